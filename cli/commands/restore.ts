import { checkArchive, readArchive } from '@parley/server/backup/archive-reader.ts';
import type { Settings } from '@parley/server/config.ts';
import { lockFolder, prepareFolder } from '@parley/server/store/folder.ts';
import { bytesOf } from '../backup/archive-file.ts';
import { check, type Restored, requireRoom, restore } from '../backup/fill.ts';
import { amountOf, filesText, number, seconds } from '../backup/words.ts';
import { defineCommand } from '../command.ts';
import { hint, print, printJson } from '../output.ts';
import { serverSettings } from '../settings.ts';
import { oneLine } from '../terminal.ts';
import { type Transfer, transfer } from '../transfer.ts';
import { json, quiet, text } from '../values.ts';

export const command = defineCommand({
  arguments: { file: { summary: 'The file that backup wrote, or - for standard input.', read: text } },
  options: { quiet, json },
  notes: `It fills an empty data folder (PARLEY_DATA), or an empty PostgreSQL (DATABASE_URL), whichever of them the backup came from,
while no server runs there. Either all of it is restored, or nothing. It reads the same settings as the server.`,
  async run({ file: path }, { quiet, json }, context) {
    const settings = serverSettings(context);
    const since = performance.now();
    prepareFolder(settings.folder);
    const unlock = lockFolder(settings.folder);
    let bytes = 0;
    const reading = (running: Transfer) =>
      bytesOf(path, context, (done, total) => {
        bytes = done;
        if (total !== undefined) running.show(done, total);
      });
    try {
      await requireRoom(settings);
      if (path !== '-') {
        await transfer(context, { verb: 'Checking', json, quiet }, (running) =>
          checkArchive(reading(running), running.signal, (manifest) => check(manifest, settings)),
        );
      }
      const restored = await transfer(context, { verb: 'Restoring', json, quiet }, (running) =>
        readArchive(reading(running), running.signal, (archive) => restore(archive, settings, running, context)),
      );
      for (const line of notesOn(restored, settings)) await hint(context, line);
      const { messages, files, manifest } = restored;
      const { began_at } = manifest;
      if (json) return await printJson(context, { path, began_at, messages, files, bytes, seconds: seconds(since) });
      const from = path === '-' ? 'the backup' : oneLine(path);
      await print(context, `Restored ${from} of ${began_at}: ${amountOf({ messages, files, bytes, since })}.`);
    } finally {
      unlock();
    }
  },
});

function notesOn({ manifest, altered }: Restored, { s3 }: Settings): string[] {
  const { files } = manifest;
  const notes = [
    !files.included &&
      files.count > 0 &&
      `${filesText(files.count)} ${number(files.count, 'is', 'are')} not in the backup, but in the bucket ${oneLine(files.bucket ?? '')}. ${s3 ? 'S3_URL must lead there, or to a copy of it.' : 'Start the server with S3_URL set to it.'}`,
    altered.length > 0 &&
      `Damaged before ${number(altered.length, 'it was', 'they were')} backed up: ${filesText(altered.length)} (${altered.join(', ')}).`,
  ];
  return notes.filter((note) => note !== false);
}
