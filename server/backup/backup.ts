import type { FileId } from '@parley/contract';
import { isoTime } from '../domain/time.ts';
import type { Blobs } from '../files/storage/blobs.ts';
import packageJson from '../package.json' with { type: 'json' };
import { fingerprintOf, knownFingerprint } from '../store/data-folder/secret-key.ts';
import type { Queryable } from '../store/engine/engine.ts';
import { schemaVersion } from '../store/engine/migrate.ts';
import { number } from '../store/engine/query.ts';
import { maxTextBytes } from './archive-reader.ts';
import type { ArchiveWriter } from './archive-writer.ts';
import { columnsOf, databaseBytes } from './catalog.ts';
import { copyFiles, type FileFaults } from './copy-files.ts';
import { readCounters } from './counters.ts';
import { BackupError } from './failure.ts';
import { type Manifest, newestFormat } from './manifest.ts';
import { countStored, type StoredFile, storedFiles } from './stored-files.ts';
import { pagesOf } from './table-copy.ts';
import { keptTables } from './tables.ts';

export interface BackupDeps {
  /** Runs `work` on a snapshot of the database. */
  readonly withSnapshot: <T>(work: (db: Queryable) => Promise<T>) => Promise<T>;
  /** Returns whether the file still exists now. */
  readonly isKept: (fileId: FileId) => Promise<boolean>;
  /** The storage of files, or the bucket that they stay in. */
  readonly files: { readonly blobs: Blobs } | { readonly bucket: string };
  /** Included if it is the key that encrypted the secrets in the database. */
  readonly key: Uint8Array | undefined;
  readonly archive: ArchiveWriter;
  /** Before the snapshot. */
  readonly beganAt: number;
  /** Returns the id up to which the log of the snapshot is complete. */
  readonly completeUpTo: (db: Queryable) => Promise<number>;
  readonly progress: (done: number, total: number) => void;
}

export interface BackupOutcome extends FileFaults {
  readonly manifest: Manifest;
}

/**
 * Writes a snapshot of all data of a server while it runs. Files are copied after the snapshot is closed. Those deleted
 * meanwhile are missing in the backup.
 */
export async function backUp(deps: BackupDeps): Promise<BackupOutcome> {
  const { archive, files, progress } = deps;
  const { manifest, pages, bytes } = await deps.withSnapshot(async (db) => {
    const manifest = await describe(db, deps);
    await archive.add('manifest.json', `${JSON.stringify(manifest, undefined, 2)}\n`);
    if (manifest.key.included && deps.key)
      await archive.add('secret.key', `${Buffer.from(deps.key).toString('base64')}\n`);
    const bytes = { database: await databaseBytes(db), files: manifest.files.included ? manifest.files.bytes : 0 };
    const total = bytes.database + bytes.files;
    await copyTables(db, manifest, archive, (share) => progress(share * bytes.database, total));
    return { manifest, bytes, pages: 'blobs' in files ? await listFiles(db) : [] };
  });
  const faults =
    'blobs' in files
      ? await copyFiles({ pages, blobs: files.blobs, isKept: deps.isKept, archive }, (done) =>
          progress(bytes.database + done, bytes.database + bytes.files),
        )
      : { removed: [], lost: [], altered: [] };
  await archive.finish([...faults.removed, ...faults.lost]);
  return { manifest, ...faults };
}

async function describe(db: Queryable, deps: BackupDeps): Promise<Manifest> {
  const tables: Manifest['tables'] = [];
  for (const { name } of keptTables) {
    tables.push({
      name,
      columns: await columnsOf(db, name),
      rows: await number(db, `SELECT count(*) AS total FROM ${name}`),
    });
  }
  const fingerprint = (await knownFingerprint(db)) ?? null;
  const bucket = 'bucket' in deps.files ? deps.files.bucket : null;
  return {
    format: newestFormat,
    parley: packageJson.version,
    schema: await schemaVersion(db),
    engine: db.dialect.name,
    began_at: isoTime(deps.beganAt),
    tables,
    last_ids: Object.fromEntries((await readCounters(db)).map(({ name, last }) => [name, last])),
    log_reached: await deps.completeUpTo(db),
    files: { included: bucket === null, ...(await countStored(db)), bucket },
    key: { included: deps.key !== undefined && fingerprintOf(deps.key) === fingerprint, fingerprint },
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
    // Paging skips rows if the key of the table is not unique.
    if (copied !== rows) throw new BackupError(`${copied} rows of ${name} were read instead of ${rows}.`);
    done += copied;
  }
}

/** Returns pages of JSON: a million files take about 100 MB in this form. */
async function listFiles(db: Queryable): Promise<string[]> {
  const pages: string[] = [];
  for await (const page of storedFiles(db)) pages.push(JSON.stringify(page satisfies StoredFile[]));
  return pages;
}
