import { resolve } from 'node:path';
import { readSettings, type Settings } from '@parley/server/config.ts';
import type { CommandContext } from './context.ts';

/** The settings of the server that the environment names. */
export function serverSettings({ env, cwd }: Pick<CommandContext, 'env' | 'cwd'>): Settings {
  const settings = readSettings(env);
  return { ...settings, folder: resolve(cwd, settings.folder) };
}
