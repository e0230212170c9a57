import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { CommandContext, Environment } from './context.ts';

/**
 * Returns the environment of a server that is started in this folder: `.env` adds what the environment does not set. Only
 * commands that run or open a server read it. A folder must not decide where the others send a token.
 */
export function serverEnvironment({ env, cwd }: Pick<CommandContext, 'env' | 'cwd'>): Environment {
  return { ...readEnvFile(join(cwd, '.env')), ...env };
}

function readEnvFile(path: string): Environment {
  try {
    return parseEnv(readFileSync(path, 'utf8')) as Environment;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new Error(`Cannot read ${path}: ${(error as Error).message}`);
  }
}
