import type { FileId } from '@parley/contract';
import type { Blobs } from '../blobs/blobs.ts';
import { isoTime } from '../domain/time.ts';
import packageJson from '../package.json' with { type: 'json' };
import { schemaVersion } from '../store/migrate.ts';
import { fingerprintOf, knownFingerprint } from '../store/secret-key.ts';
import type { Queryable } from '../store/snapshot.ts';
import { maxTextBytes } from './archive-reader.ts';
import type { ArchiveWriter } from './archive-writer.ts';
import { columnsOf, databaseBytes } from './catalog.ts';
import { copyFiles, type FileFaults } from './copy-files.ts';
import { readCounters } from './counters.ts';
import { BackupError } from './failure.ts';
import { type Manifest, newestFormat } from './manifest.ts';
import { countStored, type StoredFile, storedFiles } from './stored-files.ts';
import { countRows, pagesOf } from './table-copy.ts';
import { keptTables } from './tables.ts';

export interface BackupDeps {
  /** Reads the database as it is at one moment. */
  readonly withSnapshot: <T>(work: (db: Queryable) => Promise<T>) => Promise<T>;
  /** Whether a file is still to be there now. */
  readonly isKept: (fileId: FileId) => Promise<boolean>;
  /** Where the bytes of files are, or the bucket that they stay in. */
  readonly files: { readonly blobs: Blobs } | { readonly bucket: string };
  /** The key that may go along, where it is the one that sealed what is in the database. */
  readonly key: Uint8Array | undefined;
  readonly archive: ArchiveWriter;
  /** From before anything was looked at. */
  readonly beganAt: number;
  /** Up to which id the log tells everything at that moment. */
  readonly completeUpTo: (db: Queryable) => Promise<number>;
  readonly progress: (done: number, total: number) => void;
}

export interface BackupOutcome extends FileFaults {
  readonly manifest: Manifest;
}

/**
 * Writes everything that a server keeps, as it is at one moment, while the server goes on. The files follow once the database
 * is let go of: what was removed by then was deleted since, and is missing.
 */
export async function backUp(parts: BackupDeps): Promise<BackupOutcome> {
  const { archive, files, progress } = parts;
  const { manifest, pages, bytes } = await parts.withSnapshot(async (db) => {
    const manifest = await describe(db, parts);
    await archive.add('manifest.json', `${JSON.stringify(manifest, undefined, 2)}\n`);
    if (manifest.key.included && parts.key)
      await archive.add('secret.key', `${Buffer.from(parts.key).toString('base64')}\n`);
    const bytes = { database: await databaseBytes(db), files: manifest.files.included ? manifest.files.bytes : 0 };
    const total = bytes.database + bytes.files;
    await copyTables(db, manifest, archive, (share) => progress(share * bytes.database, total));
    return { manifest, bytes, pages: 'blobs' in files ? await listFiles(db) : [] };
  });
  const faults =
    'blobs' in files
      ? await copyFiles({ pages, blobs: files.blobs, isKept: parts.isKept, archive }, (done) =>
          progress(bytes.database + done, bytes.database + bytes.files),
        )
      : { removed: [], lost: [], altered: [] };
  await archive.finish([...faults.removed, ...faults.lost]);
  return { manifest, ...faults };
}

async function describe(db: Queryable, parts: BackupDeps): Promise<Manifest> {
  const tables: Manifest['tables'] = [];
  for (const { name } of keptTables) {
    tables.push({ name, columns: await columnsOf(db, name), rows: await countRows(db, name) });
  }
  const fingerprint = (await knownFingerprint(db)) ?? null;
  const bucket = 'bucket' in parts.files ? parts.files.bucket : null;
  return {
    format: newestFormat,
    parley: packageJson.version,
    schema: await schemaVersion(db),
    engine: db.dialect.name,
    began_at: isoTime(parts.beganAt),
    tables,
    last_ids: Object.fromEntries((await readCounters(db)).map(({ name, last }) => [name, last])),
    log_reached: await parts.completeUpTo(db),
    files: { included: bucket === null, ...(await countStored(db)), bucket },
    key: { included: parts.key !== undefined && fingerprintOf(parts.key) === fingerprint, fingerprint },
  };
}

async function copyTables(
  db: Queryable,
  { tables }: Manifest,
  archive: ArchiveWriter,
  progress: (share: number) => void,
): Promise<void> {
  const total = tables.reduce((sum, { rows }) => sum + rows, 0);
  let done = 0;
  for (const { name, columns, rows } of tables) {
    const table = keptTables.find((kept) => kept.name === name);
    let [part, copied] = [0, 0];
    for await (const page of pagesOf(db, table ?? { name, key: [] }, Object.keys(columns))) {
      if (Buffer.byteLength(page.json) > maxTextBytes) throw new BackupError(`A row of ${name} is too large.`);
      await archive.add(`tables/${name}/${String(part++).padStart(6, '0')}.json`, page.json);
      copied += page.rows;
      progress((done + copied) / total);
    }
    // Were the key of a table not what tells its rows apart, some would be passed over.
    if (copied !== rows) throw new BackupError(`${copied} rows of ${name} were read in place of ${rows}.`);
    done += copied;
  }
}

/** As texts: a million files take about a hundred megabytes so. */
async function listFiles(db: Queryable): Promise<string[]> {
  const pages: string[] = [];
  for await (const page of storedFiles(db)) pages.push(JSON.stringify(page satisfies StoredFile[]));
  return pages;
}
