import { fileLinks } from '../auth/file-links.ts';
import type { Settings } from '../config.ts';
import { UploadLocks } from '../files/locks.ts';
import type { Blobs } from '../files/storage/blobs.ts';
import { openDisk } from '../files/storage/disk.ts';
import { checkS3, openS3 } from '../files/storage/s3.ts';
import { withSegments } from '../files/storage/segments.ts';
import { Uploads } from '../files/uploads.ts';
import type { FileServices } from '../operations/operation.ts';
import { type Core, deriveKey, quotasOf } from './core.ts';
import type { Runtime } from './runtime.ts';

const hourMs = 3_600_000;

const openLocal = ({ folder, diskReserve }: Settings, { measureSpace }: Runtime): Blobs =>
  openDisk(folder, measureSpace, diskReserve);

/**
 * Opens the storage of files, and builds uploads on it. `origin` returns the URL that clients reach the server at.
 * `interruptOthers` asks other processes to release an upload.
 */
export async function buildFiles(
  { settings, runtime, engine, key, disk }: Core,
  origin: () => string,
  interruptOthers: (key: string) => void,
): Promise<{ blobs: Blobs; uploads: Uploads; locks: UploadLocks; services: FileServices }> {
  const { now, random, monotonic, uploadLeaseMs, uploadRenewMs, uploadWaitMs } = runtime;
  const blobs = withSegments(settings.s3 ? openS3(settings.s3) : openLocal(settings, runtime));
  if (settings.s3) await checkS3(settings.s3);
  const keptMs = settings.uploadHours * hourMs;
  const { fileBytes } = settings;
  const { requireRoom } = disk;
  const uploads = new Uploads({
    engine,
    blobs,
    now,
    random,
    fileBytes,
    keptMs,
    quotas: quotasOf(settings),
    requireRoom,
  });
  const locks = new UploadLocks({
    engine,
    monotonic,
    leaseMs: uploadLeaseMs,
    renewMs: uploadRenewMs,
    waitMs: uploadWaitMs,
    alone: settings.databaseUrl === undefined,
    hasLateWrites: settings.s3 !== undefined,
    interruptOthers,
  });
  await locks.start();
  const linkKey = deriveKey(key, 'links to files');
  const services: FileServices = {
    url: (fileId) => `${origin()}/api/files.php?action=download&file_id=${fileId}`,
    links: fileLinks(linkKey, engine, now),
    read: (blob, start, end) => blobs.read(blob, start, end),
    expiry: () => uploads.expiry,
  };
  return { blobs, uploads, locks, services };
}
