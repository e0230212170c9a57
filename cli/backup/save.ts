import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ArchiveWriter } from '@parley/server/backup/archive-writer.ts';
import { type BackupOutcome, type BackupParts, backUp } from '@parley/server/backup/backup.ts';
import { keyToKeep } from '@parley/server/backup/key.ts';
import { openDisk } from '@parley/server/blobs/disk.ts';
import { withSegments } from '@parley/server/blobs/segments.ts';
import type { Settings } from '@parley/server/config.ts';
import { reachOf } from '@parley/server/store/counters.ts';
import { findFile } from '@parley/server/store/files.ts';
import { atOneMoment } from '@parley/server/store/open.ts';
import { knownFingerprint } from '@parley/server/store/secret-key.ts';
import type { CommandContext } from '../context.ts';
import { inDatabase } from '../database.ts';
import { serverSettings } from '../settings.ts';
import type { Transfer } from '../transfer.ts';
import { openTarget } from './archive-file.ts';

/** Writes a backup of the server that the environment names. */
export async function save(
  context: CommandContext,
  path: string,
  force: boolean,
  running: Transfer,
): Promise<{ outcome: BackupOutcome; size: number }> {
  const settings = serverSettings(context);
  return inDatabase(context, async ({ engine, now }) => {
    const files = placeOfFiles(settings);
    const places = { given: settings.secretKey, folder: settings.folder };
    const key = keyToKeep(places, await knownFingerprint(engine));
    const target = await openTarget(path, force, context);
    const beganAt = now();
    const archive = new ArchiveWriter((bytes) => target.append(bytes), beganAt, running.signal);
    try {
      const saving = backUp({
        atOneMoment: (work) => atOneMoment(settings, work),
        isKept: async (fileId) => (await findFile(engine, fileId, now())) !== undefined,
        files,
        key,
        archive,
        beganAt,
        reachOf: (db) => reachOf(db, engine),
        progress: (done, total) => running.show(done, total),
      });
      // A database may keep an answer to itself for as long as it likes.
      const outcome = await Promise.race([saving, untilAborted(running.signal)]);
      await target.finish();
      return { outcome, size: target.size };
    } catch (error) {
      await archive.abandon();
      await target.drop();
      throw error;
    }
  });
}

function placeOfFiles({ s3, folder }: Settings): BackupParts['files'] {
  if (s3) return { bucket: `${s3.bucket} at ${s3.endpoint}` };
  // Every server makes it at its start. Beside PostgreSQL nothing else tells that this is another folder than the server's.
  if (!existsSync(join(folder, 'files'))) {
    throw new Error(
      `There is no folder for files in ${folder}. Set PARLEY_DATA, or S3_URL, as it is set for the server.`,
    );
  }
  return { blobs: withSegments(openDisk(folder)) };
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
