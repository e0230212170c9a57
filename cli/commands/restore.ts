import { checkArchive, readArchive } from '@parley/server/backup/archive-reader.ts';
import type { Settings } from '@parley/server/config.ts';
import { lockFolder, prepareFolder } from '@parley/server/store/data-folder/folder.ts';
import { bytesOf } from '../backup/archive-file.ts';
import { check, type Restored, requireRoom, restore } from '../backup/fill.ts';
import { amountText, counted, listed, seconds } from '../backup/words.ts';
import { defineCommand } from '../command.ts';
import { serverSettings } from '../database.ts';
import { hint, oneLine, print, printJson } from '../output.ts';
import { type Transfer, transfer } from '../transfer.ts';
import { json, quiet, text } from '../values.ts';

export const command = defineCommand({
  arguments: { file: { summary: 'The file that backup wrote, or - for standard input.', read: text } },
  options: { quiet, json },
  notes: `It fills an empty data folder (PARLEY_DATA) or an empty PostgreSQL database (DATABASE_URL). The backup may come from
either. No server may run there. The restore is complete, or nothing changes. The command reads the same settings as the
server.`,
  async run({ file: path }, { quiet, json }, context) {
    const settings = serverSettings(context);
    const { clock } = context;
    const startedAt = clock.now();
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
      const ms = clock.now() - startedAt;
      for (const line of notesOn(restored, settings)) await hint(context, line);
      const { messages, files, manifest } = restored;
      const { began_at } = manifest;
      if (json) return await printJson(context, { path, began_at, messages, files, bytes, seconds: seconds(ms) });
      const from = path === '-' ? 'the backup' : oneLine(path);
      await print(context, `Restored ${from} of ${began_at}: ${amountText({ messages, files, bytes, ms })}.`);
    } finally {
      unlock();
    }
  },
});

function notesOn({ manifest, altered }: Restored, { s3 }: Settings): string[] {
  const { files } = manifest;
  const advice = s3 ? 'S3_URL must name it or a copy of it.' : 'Set S3_URL to it before you start the server.';
  const notes = [
    !files.included &&
      files.count > 0 &&
      `Not in the backup: ${counted(files.count, 'file')} in the bucket ${oneLine(files.bucket ?? '')}. ${advice}`,
    altered.length > 0 && `Damaged before the backup: ${listed(altered)}.`,
  ];
  return notes.filter((note) => note !== false);
}
