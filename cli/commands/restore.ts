import { randomBytes } from 'node:crypto';
import type { Archive } from '@parley/server/backup/archive-reader.ts';
import { checkArchive, readArchive } from '@parley/server/backup/archive-reader.ts';
import { decrypt } from '@parley/server/backup/encryption.ts';
import { FileSink } from '@parley/server/backup/file-sink.ts';
import { keyToWrite, requireKey } from '@parley/server/backup/key.ts';
import type { Manifest } from '@parley/server/backup/manifest.ts';
import { databaseId } from '@parley/server/backup/placing.ts';
import { requireEmpty, restoreInto } from '@parley/server/backup/restore.ts';
import { requireFree, Staging } from '@parley/server/backup/staging.ts';
import type { Settings } from '@parley/server/config.ts';
import { openDisk } from '@parley/server/files/storage/disk.ts';
import { newKey } from '@parley/server/files/storage/key.ts';
import { checkS3, openS3 } from '@parley/server/files/storage/s3.ts';
import { lockFolder, prepareFolder } from '@parley/server/store/data-folder/folder.ts';
import { CommitUnknown } from '@parley/server/store/engine/commit-outcome.ts';
import { fillStore } from '@parley/server/store/engine/open.ts';
import { bytesOf } from '../backup/archive-file.ts';
import { passphraseFile, readPassphrase } from '../backup/passphrase.ts';
import { amountText, listed, seconds } from '../backup/words.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { counted } from '../counted.ts';
import { serverSettings } from '../database.ts';
import { hint, oneLine, print, printJson } from '../output.ts';
import { type Transfer, transfer } from '../transfer.ts';
import { json, quiet, text } from '../values.ts';

export const command = defineCommand({
  arguments: { file: { summary: 'The file that backup wrote, or - for standard input.', read: text } },
  options: { 'passphrase-file': passphraseFile, quiet, json },
  notes: `It fills an empty data folder (PARLEY_DATA) or an empty PostgreSQL database (DATABASE_URL). The backup may come from
either. No server may run there. The restore is complete, or nothing changes. The command reads the same settings as the
server.`,
  async run({ file: path }, { quiet, json, 'passphrase-file': typed }, context) {
    const settings = serverSettings(context);
    const passphrase = await readPassphrase(typed, context);
    const { clock } = context;
    const startedAt = clock.now();
    prepareFolder(settings.folder);
    const unlock = lockFolder(settings.folder);
    let bytes = 0;
    const reading = (running: Transfer) => {
      const stored = bytesOf(path, context, (done, total) => {
        bytes = done;
        if (total !== undefined) running.show(done, total);
      });
      return decrypt(stored, passphrase);
    };
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
      await print(context, `Restored ${from} of ${began_at}: ${amountText(messages, files, bytes, ms)}.`);
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

/** Throws if the database or the folder is not empty, before the archive is read. */
async function requireRoom(settings: Settings): Promise<void> {
  if (settings.databaseUrl !== undefined) await fillStore(settings, '', requireEmpty);
  requireFree(settings.folder, databaseId(settings.databaseUrl));
}

/** Throws if the manifest needs a key that is not available. */
function check(manifest: Manifest, { secretKey: given, folder }: Settings): void {
  requireKey(manifest, { given, folder });
}

type Restored = Awaited<ReturnType<typeof restore>>;

/** Restores all of an archive, or nothing. The caller holds the lock of the folder. */
async function restore(
  archive: Archive,
  settings: Settings,
  running: Transfer,
  { stderr }: Pick<CommandContext, 'stderr'>,
) {
  const { manifest } = archive;
  const { s3, folder, diskReserve, secretKey: given } = settings;
  check(manifest, settings);
  if (s3) await checkS3(s3);
  using staging = new Staging(folder, databaseId(settings.databaseUrl));
  const blobs = s3 ? openS3(s3) : openDisk(staging.folder, undefined, diskReserve);
  const files = new FileSink(blobs, () => newKey(randomBytes));
  try {
    const outcome = await fillStore(settings, staging.databaseFile, async (tx) => {
      const done = await restoreInto(tx, {
        archive,
        files,
        keepKey: (text) => {
          const key = keyToWrite(text, manifest, { given, folder });
          if (key !== undefined) staging.keepKey(key);
        },
        now: Date.now,
        // The lines explain why the progress pauses, so they need a terminal.
        say: async (line) => void (stderr.isTTY && (await running.say(line))),
      });
      running.signal.throwIfAborted();
      await staging.placeRest();
      return done;
    });
    await staging.placeDatabase();
    return { manifest, ...outcome, altered: files.altered };
  } catch (error) {
    await files.idle();
    if (error instanceof CommitUnknown) {
      staging.leaveUnsettled();
    } else {
      staging.undo();
      if (s3) await files.undo();
    }
    throw error;
  }
}
