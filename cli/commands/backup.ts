import type { BackupOutcome } from '@parley/server/backup/backup.ts';
import { save } from '../backup/save.ts';
import { amountText, counted, listed, seconds } from '../backup/words.ts';
import { defineCommand, UsageError } from '../command.ts';
import { hint, oneLine, print, printJson } from '../output.ts';
import { transfer } from '../transfer.ts';
import { json, quiet, text } from '../values.ts';

export const command = defineCommand({
  arguments: { file: { summary: 'The file to write, or - for standard output.', read: text } },
  options: { force: { summary: 'Replace an existing file.' }, quiet, json },
  notes: `It saves the database, and the files and the key in the data folder, as they are at one moment. The server may keep
running. The command reads the same settings as the server. Anyone who has the backup can read everything and act as any
user: protect it like the server.`,
  async run({ file: path }, { force, quiet, json }, context) {
    if (json && path === '-') throw new UsageError('Give --json or -, not both.');
    const { clock } = context;
    const startedAt = clock.now();
    const options = { verb: 'Backing up', json, quiet: quiet || path === '-' };
    const { outcome, size: bytes } = await transfer(context, options, (running) => save(context, path, force, running));
    const ms = clock.now() - startedAt;
    const { manifest, removed, lost, altered } = outcome;
    const messages = manifest.tables.find(({ name }) => name === 'messages')?.rows ?? 0;
    const files = manifest.files.included ? manifest.files.count - removed.length - lost.length : 0;
    for (const line of notesOn(outcome)) await hint(context, line);
    if (json) {
      return printJson(context, {
        path,
        began_at: manifest.began_at,
        messages,
        files,
        files_included: manifest.files.included,
        key_included: manifest.key.included,
        removed_files: removed,
        lost_files: lost,
        altered_files: altered,
        bytes,
        seconds: seconds(ms),
      });
    }
    const name = path === '-' ? 'the backup' : oneLine(path);
    const line = `Saved ${name}: ${amountText({ messages, files, bytes, ms })}.`;
    await (path === '-' ? hint(context, line) : print(context, line));
  },
});

/** Returns what the operator has to know about the backup. */
function notesOn({ manifest, removed, lost, altered }: BackupOutcome): string[] {
  const { files, key } = manifest;
  const notes = [
    !files.included &&
      `Not included: ${counted(files.count, 'file')} in the bucket ${oneLine(files.bucket ?? '')}. Back up the bucket too.`,
    key.fingerprint !== null &&
      !key.included &&
      'Not included: the key that encrypts webhook secrets. Keep PARLEY_SECRET_KEY: a restore needs it.',
    removed.length > 0 && `Not included, because deleted meanwhile: ${listed(removed)}.`,
    lost.length > 0 && `Not included, because missing from the storage: ${listed(lost)}.`,
    altered.length > 0 && `Included, but damaged in the storage: ${listed(altered)}.`,
  ];
  return notes.filter((note) => note !== false);
}
