import { resolve } from 'node:path';
import { readSettings, type Settings } from '@parley/server/config.ts';
import type { CommandContext } from './context.ts';

/** Returns the server settings of the environment. */
export function serverSettings({ env, cwd }: Pick<CommandContext, 'env' | 'cwd'>): Settings {
  const settings = readSettings(env);
  return { ...settings, folder: resolve(cwd, settings.folder) };
}
