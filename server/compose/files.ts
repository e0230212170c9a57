import { FileLinks } from '../auth/file-links.ts';
import type { Settings } from '../config.ts';
import { UploadLocks } from '../files/locks.ts';
import type { Blobs } from '../files/storage/blobs.ts';
import { openDisk } from '../files/storage/disk.ts';
import { checkS3, openS3 } from '../files/storage/s3.ts';
import { withSegments } from '../files/storage/segments.ts';
import { Uploads } from '../files/uploads.ts';
import type { FileServices } from '../operations/operation.ts';
import type { Engine } from '../store/engine/engine.ts';
import type { Runtime } from './runtime.ts';

const hourMs = 3_600_000;

/**
 * What keeps files. `address` is where the server is reached from outside; `interruptOthers` has the other servers' locks asked for
 * an upload.
 */
export async function buildFiles(
  settings: Settings,
  runtime: Runtime,
  engine: Engine,
  key: Uint8Array,
  address: () => string,
  interruptOthers: (key: string) => void = () => {},
): Promise<{ blobs: Blobs; uploads: Uploads; locks: UploadLocks; services: FileServices }> {
  const { now, random, monotonic, uploadLeaseMs, uploadRenewMs, uploadWaitMs } = runtime;
  const blobs = withSegments(settings.s3 ? openS3(settings.s3) : openDisk(settings.folder));
  if (settings.s3) await checkS3(settings.s3);
  const keptMs = settings.uploadHours * hourMs;
  const uploads = new Uploads({ engine, blobs, now, random, fileBytes: settings.fileBytes, keptMs });
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
  const linkKey = new Bun.CryptoHasher('sha256', key).update('links to files').digest();
  const services: FileServices = {
    url: (fileId) => `${address()}/api/files.php?action=download&file_id=${fileId}`,
    links: new FileLinks(linkKey, engine, now),
    read: (blob, start, end) => blobs.read(blob, start, end),
    expiry: () => uploads.expiry,
  };
  return { blobs, uploads, locks, services };
}
