import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { untilAborted } from '@parley/sdk/retry.ts';
import { ArchiveWriter } from '@parley/server/backup/archive-writer.ts';
import { type BackupDeps, type BackupOutcome, backUp } from '@parley/server/backup/backup.ts';
import { completeUpTo } from '@parley/server/backup/counters.ts';
import { keyToInclude } from '@parley/server/backup/key.ts';
import type { Settings } from '@parley/server/config.ts';
import { openDisk } from '@parley/server/files/storage/disk.ts';
import { withSegments } from '@parley/server/files/storage/segments.ts';
import { knownFingerprint } from '@parley/server/store/data-folder/secret-key.ts';
import { withSnapshot } from '@parley/server/store/engine/open.ts';
import { findFile } from '@parley/server/store/files/files.ts';
import type { CommandContext } from '../context.ts';
import { inDatabase, serverSettings } from '../database.ts';
import type { Transfer } from '../transfer.ts';
import { openTarget } from './archive-file.ts';

/** Writes a backup of the server that the environment names. Returns its outcome and its size in bytes. */
export async function save(
  context: CommandContext,
  path: string,
  force: boolean,
  running: Transfer,
): Promise<{ outcome: BackupOutcome; size: number }> {
  const settings = serverSettings(context);
  return inDatabase(context, async ({ engine, now }) => {
    const files = fileStorage(settings);
    const places = { given: settings.secretKey, folder: settings.folder };
    const key = keyToInclude(places, await knownFingerprint(engine));
    const target = await openTarget(path, force, context);
    const beganAt = now();
    let size = 0;
    const append = async (bytes: Uint8Array) => {
      await target.append(bytes);
      size += bytes.length;
    };
    const archive = new ArchiveWriter(append, beganAt, running.signal);
    try {
      const saving = backUp({
        withSnapshot: (work) => withSnapshot(settings, work),
        isKept: async (fileId) => (await findFile(engine, fileId, now())) !== undefined,
        files,
        key,
        archive,
        beganAt,
        completeUpTo: (db) => completeUpTo(db, engine),
        progress: (done, total) => running.show(done, total),
      });
      // A database query may hang, and a signal has to end the command all the same.
      const outcome = await untilAborted(saving, running.signal);
      await target.finish();
      return { outcome, size };
    } catch (error) {
      await archive.abandon();
      await target.drop();
      throw error;
    }
  });
}

function fileStorage({ s3, folder }: Settings): BackupDeps['files'] {
  if (s3) return { bucket: `${s3.bucket} at ${s3.endpoint}` };
  // Every server creates it at its start. With PostgreSQL nothing else shows that this is the wrong folder.
  if (!existsSync(join(folder, 'files'))) {
    throw new Error(`There is no folder for files in ${folder}. Set PARLEY_DATA or S3_URL as for the server.`);
  }
  return { blobs: withSegments(openDisk(folder)) };
}
