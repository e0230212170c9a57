import { type FileId, ParleyError } from '@parley/contract';
import type { Blobs } from '../files/storage/blobs.ts';
import type { ArchiveWriter } from './archive-writer.ts';
import { BackupError } from './failure.ts';
import type { StoredFile } from './stored-files.ts';

/** Ids of files that are missing or wrong in a backup. */
export interface FileFaults {
  /** Deleted while the backup was made. */
  readonly removed: readonly number[];
  /** In the database but not in the storage. */
  readonly lost: readonly number[];
  /** Their bytes do not match their hash. They are copied as they are. */
  readonly altered: readonly number[];
}

export interface FileCopy {
  /** Each is a JSON array of `StoredFile`. */
  readonly pages: readonly string[];
  readonly blobs: Blobs;
  readonly isKept: (fileId: FileId) => Promise<boolean>;
  readonly archive: ArchiveWriter;
}

export async function copyFiles(copy: FileCopy, progress: (bytes: number) => void): Promise<FileFaults> {
  const faults = { removed: [] as number[], lost: [] as number[], altered: [] as number[] };
  let done = 0;
  for (const page of copy.pages) {
    for (const file of JSON.parse(page) as StoredFile[]) {
      const hash = await copyFile(copy, file, (bytes) => progress(done + bytes));
      if (hash === undefined) faults[(await copy.isKept(file.file_id)) ? 'lost' : 'removed'].push(file.file_id);
      else if (hash !== file.sha256) faults.altered.push(file.file_id);
      done += file.size;
    }
  }
  return faults;
}

/** Returns the hash of the bytes copied, or undefined if they are missing. */
async function copyFile(
  { blobs, archive }: FileCopy,
  { file_id, key, size }: StoredFile,
  progress: (bytes: number) => void,
): Promise<string | undefined> {
  const blob = await blobs.read(key, 0, size).catch((error: unknown) => requireGone(error, file_id));
  if (!blob) return undefined;
  const hasher = new Bun.CryptoHasher('sha256');
  let done = 0;
  const read = async function* () {
    try {
      for await (const bytes of new Response(blob).body ?? []) {
        hasher.update(bytes);
        done += bytes.length;
        progress(done);
        yield bytes;
      }
    } catch (error) {
      requireGone(error, file_id);
    }
  };
  return (await archive.addStream(`files/${file_id}`, size, read())) ? hasher.digest('hex') : undefined;
}

/**
 * Throws unless the file is surely missing or truncated in the storage. A backup without a file that merely cannot be read
 * now would make it look lost.
 */
function requireGone(error: unknown, fileId: FileId): undefined {
  const cause = error instanceof ParleyError ? error.cause : error;
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'ENOENT' || (code === undefined && !(error instanceof ParleyError))) return undefined;
  throw new BackupError(`File ${fileId} cannot be read from the storage (${message}). No backup was written.`, {
    cause: error,
  });
}
