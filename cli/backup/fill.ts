import { randomBytes } from 'node:crypto';
import type { Archive } from '@parley/server/backup/archive-reader.ts';
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
import { CommitUnknown } from '@parley/server/store/engine/commit-outcome.ts';
import { fillStore } from '@parley/server/store/engine/open.ts';
import type { CommandContext } from '../context.ts';
import type { Transfer } from '../transfer.ts';

/** Throws if the database or the folder is not empty, before the archive is read. */
export async function requireRoom(settings: Settings): Promise<void> {
  if (settings.databaseUrl !== undefined) await fillStore(settings, '', requireEmpty);
  requireFree(settings.folder, databaseId(settings.databaseUrl));
}

/** Throws if the manifest needs a key that is not available. */
export function check(manifest: Manifest, { secretKey: given, folder }: Settings): void {
  requireKey(manifest, { given, folder });
}

export interface Restored {
  readonly manifest: Manifest;
  readonly messages: number;
  readonly files: number;
  readonly altered: readonly number[];
}

/** Restores all of an archive, or nothing. The caller holds the lock of the folder. */
export async function restore(
  archive: Archive,
  settings: Settings,
  running: Transfer,
  { stderr }: Pick<CommandContext, 'stderr'>,
): Promise<Restored> {
  const { manifest } = archive;
  const { s3, folder, secretKey: given } = settings;
  check(manifest, settings);
  if (s3) await checkS3(s3);
  using staging = new Staging(folder, databaseId(settings.databaseUrl));
  const files = new FileSink(s3 ? openS3(s3) : openDisk(staging.folder), () => newKey(randomBytes));
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
