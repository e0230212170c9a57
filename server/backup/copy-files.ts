import { type FileId, ParleyError } from '@parley/contract';
import type { Blobs } from '../blobs/blobs.ts';
import type { ArchiveWriter } from './archive-writer.ts';
import { BackupError } from './failure.ts';
import type { StoredFile } from './stored-files.ts';

/** Files, by their ids, that are not in a backup as they should be. */
export interface FileFaults {
  /** Deleted while the backup was made. */
  readonly removed: readonly number[];
  /** Not in the storage, although the database knows them. */
  readonly lost: readonly number[];
  /** There, but not the bytes that once came. They are copied as they are. */
  readonly altered: readonly number[];
}

export interface FileCopy {
  /** Arrays of `StoredFile`, as JSON. */
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

/** Answers the hash of what was copied, or undefined where the bytes are not there. */
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
 * Of a file that is surely not there, or not all of it, a backup can be without: it will never be there again. One that cannot be
 * read now may well be there, and whoever has the backup would take it for lost.
 */
function requireGone(error: unknown, fileId: FileId): undefined {
  const cause = error instanceof ParleyError ? error.cause : error;
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'ENOENT' || (code === undefined && !(error instanceof ParleyError))) return undefined;
  throw new BackupError(`File ${fileId} cannot be read from the storage (${message}). Nothing was saved.`, {
    cause: error,
  });
}
