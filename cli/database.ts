import { resolve } from 'node:path';
import type { Tools } from '@parley/server/auth/administer.ts';
import { openTools } from '@parley/server/compose/tools.ts';
import { readSettings, type Settings } from '@parley/server/config.ts';
import type { CommandContext } from './context.ts';
import { serverEnvironment } from './env-file.ts';

/** Returns the settings of the server of this environment and folder. */
export function serverSettings(context: Pick<CommandContext, 'env' | 'cwd'>): Settings {
  const settings = readSettings(serverEnvironment(context));
  return { ...settings, folder: resolve(context.cwd, settings.folder) };
}

/** Runs work on the database. A server may be running, so it takes no lock and does not migrate. */
export async function inDatabase<T>(context: CommandContext, work: (tools: Tools) => Promise<T>): Promise<T> {
  const tools = await openTools(serverSettings(context));
  try {
    return await work(tools);
  } finally {
    await tools.engine.close();
  }
}
