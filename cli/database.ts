import { resolve } from 'node:path';
import type { Tools } from '@parley/server/auth/administer.ts';
import { openTools } from '@parley/server/compose/tools.ts';
import { readSettings, type Settings } from '@parley/server/config.ts';
import type { CommandContext } from './context.ts';

/** Returns the server settings of the environment. */
export function serverSettings({ env, cwd }: Pick<CommandContext, 'env' | 'cwd'>): Settings {
  const settings = readSettings(env);
  return { ...settings, folder: resolve(cwd, settings.folder) };
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
