import type { BackupOutcome } from '@parley/server/backup/backup.ts';
import { save } from '../backup/save.ts';
import { amountOf, filesText, number, seconds } from '../backup/words.ts';
import { defineCommand } from '../command.ts';
import { hint, print, printJson } from '../output.ts';
import { oneLine } from '../terminal.ts';
import { transfer } from '../transfer.ts';
import { UsageError } from '../usage.ts';
import { json, quiet, text } from '../values.ts';

export const command = defineCommand({
  arguments: { file: { summary: 'The file to write, or - for standard output.', read: text } },
  options: { force: { summary: 'Replace what is there.' }, quiet, json },
  notes: `Everything that the server keeps, as it is at one moment, while the server runs on: its database, and the files and the key
in its data folder. It reads the same settings as the server. Whoever has the file can read all of it and act as anybody:
keep it as you keep the server.`,
  async run({ file: path }, { force, quiet, json }, context) {
    if (json && path === '-') throw new UsageError('Give --json or -, not both.');
    const since = performance.now();
    const options = { verb: 'Backing up', json, quiet: quiet || path === '-' };
    const { outcome, size } = await transfer(context, options, (running) => save(context, path, force, running));
    const { manifest, removed, lost, altered } = outcome;
    const messages = manifest.tables.find(({ name }) => name === 'messages')?.rows ?? 0;
    const files = manifest.files.included ? manifest.files.count - removed.length - lost.length : 0;
    for (const line of notesOn(outcome)) await hint(context, line);
    if (json) {
      const { began_at, files: kept, key } = manifest;
      const faults = { removed_files: removed, lost_files: lost, altered_files: altered };
      const included = { files_included: kept.included, key_included: key.included };
      return printJson(context, {
        path,
        began_at,
        messages,
        files,
        ...included,
        ...faults,
        bytes: size,
        seconds: seconds(since),
      });
    }
    const line = `Saved ${path === '-' ? 'the backup' : oneLine(path)}: ${amountOf({ messages, files, bytes: size, since })}.`;
    await (path === '-' ? hint(context, line) : print(context, line));
  },
});

/** What whoever keeps the backup has to know of it. */
function notesOn({ manifest, removed, lost, altered }: BackupOutcome): string[] {
  const { files, key } = manifest;
  const notes = [
    !files.included &&
      `Not in it: ${filesText(files.count)}, which ${number(files.count, 'stays', 'stay')} in the bucket ${oneLine(files.bucket ?? '')}. Back that up as well.`,
    key.fingerprint !== null &&
      !key.included &&
      'Not in it: the key that seals the secrets of webhooks. Keep PARLEY_SECRET_KEY; without it the backup cannot be restored.',
    removed.length > 0 && `Deleted meanwhile, and not in it: ${filesText(removed.length)} (${removed.join(', ')}).`,
    lost.length > 0 && `Missing from the storage, and so not in it: ${filesText(lost.length)} (${lost.join(', ')}).`,
    altered.length > 0 &&
      `Damaged in the storage, and in it as ${number(altered.length, 'it is', 'they are')}: ${filesText(altered.length)} (${altered.join(', ')}).`,
  ];
  return notes.filter((note) => note !== false);
}
