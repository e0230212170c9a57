import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { CommandContext } from '../context.ts';
import { serverEnvironment } from '../env-file.ts';
import { textOf } from '../input.ts';
import { text } from '../values.ts';

export const passphraseFile = {
  value: 'file',
  summary: 'A file with the passphrase of the backup. Overrides PARLEY_BACKUP_PASSPHRASE.',
  read: text,
} as const;

/** Returns the passphrase of the file, without a final line break, or of the environment. Returns undefined if there is none. */
export async function readPassphrase(
  typed: string | undefined,
  { cwd, env }: Pick<CommandContext, 'cwd' | 'env'>,
): Promise<string | undefined> {
  if (typed === undefined) return serverEnvironment({ cwd, env }).PARLEY_BACKUP_PASSPHRASE || undefined;
  const bytes = await readFile(resolve(cwd, typed)).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error(`There is no file ${typed}.`) : error;
  });
  const passphrase = textOf(bytes, typed);
  if (passphrase === '') throw new Error(`${typed} is empty. Write a passphrase into it.`);
  return passphrase;
}
