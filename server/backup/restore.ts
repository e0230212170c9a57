import { ParleyError } from '@parley/contract';
import { recountUse } from '../store/access/owner-use.ts';
import type { Columns, Tx, Value } from '../store/engine/engine.ts';
import { lockSchema, migrateTo, newestVersion } from '../store/engine/migrate.ts';
import { noteGap } from '../store/log/log-cursor.ts';
import { rebuildIndex } from '../store/search/rebuild-index.ts';
import { releaseAllLeases } from '../store/webhooks/endpoint-state.ts';
import type { Archive, Entry } from './archive-reader.ts';
import { columnsOf, tableNames } from './catalog.ts';
import { BackupError, damaged } from './failure.ts';
import type { FileSink } from './file-sink.ts';
import { jumpAhead } from './ids.ts';
import type { Manifest } from './manifest.ts';
import { forgetThumbnails, forgetUnsent, settleFiles } from './stored-files.ts';
import { insertionInto } from './table-copy.ts';
import { leftOut } from './tables.ts';

export interface RestoreDeps {
  readonly archive: Archive;
  readonly files: FileSink;
  readonly keepKey: (key: string) => void;
  readonly now: () => number;
  /** Announces a step that takes long. */
  readonly say: (line: string) => Promise<void>;
}

export interface RestoreOutcome {
  readonly messages: number;
  readonly files: number;
}

/**
 * Restores a backup into an empty database: creates the schema of the backup, inserts the rows, then applies the later
 * migrations. Throws `BackupError` if the database is not empty or the backup is damaged.
 */
export async function restoreInto(tx: Tx, deps: RestoreDeps): Promise<RestoreOutcome> {
  const { archive, files } = deps;
  const { manifest } = archive;
  await requireEmpty(tx);
  await migrateTo(tx, manifest.schema, deps.now);
  await clearTables(tx, manifest);
  const tables = tableLoader(tx, manifest);
  for await (const entry of archive.entries()) {
    const [folder, name = ''] = entry.name.split('/');
    if (folder === 'tables') await tables.load(name, entry);
    else if (folder === 'files') await files.put(tx, Number(name), entry);
    else if (entry.name === 'secret.key') deps.keepKey(await entry.text());
    else throw damaged(`${entry.name} is unknown`);
  }
  tables.requireAll();
  // Before the migrations, which may add rows, and once more for the counters that they create.
  const jumped = await jumpAhead(tx, manifest, deps.now());
  await migrateTo(tx, newestVersion, deps.now);
  await jumpAhead(tx, manifest, deps.now(), jumped);
  await noteGap(tx, manifest.log_reached);
  await files.settle(archive.missing);
  if (manifest.files.included) await settleFiles(tx, archive.missing);
  else await forgetUnsent(tx, Date.parse(manifest.began_at));
  await forgetThumbnails(tx);
  await recountUse(tx);
  // The leases of the original servers are void.
  await releaseAllLeases(tx, null);
  await deps.say('Building the search index.');
  await rebuildIndex(tx);
  return { messages: tables.countOf('messages'), files: files.count };
}

/** Throws `BackupError` if the database has any table. Waits for a starting server or another restore first. */
export async function requireEmpty(tx: Tx): Promise<void> {
  await lockSchema(tx);
  const [found] = await tableNames(tx);
  if (found === undefined) return;
  throw new BackupError(`The database is not empty: it has the table ${found}. Restore into a new database.`);
}

/** Deletes the rows that migrations insert. Referring tables go first. */
async function clearTables(tx: Tx, { tables, schema }: Manifest): Promise<void> {
  const expected = new Set((await tableNames(tx)).filter((name) => !Object.hasOwn(leftOut, name)));
  for (const { name, columns } of tables.toReversed()) {
    const isSame = expected.delete(name) && Bun.deepEquals(await columnsOf(tx, name), columns);
    if (!isSame) throw damaged(`its table ${name} is not one of schema version ${schema}`);
    await tx.run(`DELETE FROM ${name}`);
  }
  const [absent] = expected;
  if (absent !== undefined) throw damaged(`the table ${absent} of schema version ${schema} is not in it`);
}

const fits = {
  int: (value: unknown) => Number.isSafeInteger(value),
  text: (value: unknown) => typeof value === 'string',
} as const;

/** Parses a page of rows. Throws if a row does not have a fitting value for every column. */
function parseRows(text: string, columns: Columns): Value[][] {
  const found: unknown = JSON.parse(text);
  const types = Object.values(columns);
  const isRow = (row: unknown): row is Value[] =>
    Array.isArray(row) &&
    row.length === types.length &&
    types.every((type, i) => row[i] === null || fits[type](row[i]));
  if (Array.isArray(found) && found.every(isRow)) return found;
  throw new Error('invalid rows');
}

/** Inserts pages of rows and counts them. */
function tableLoader(tx: Tx, manifest: Manifest) {
  const tables = new Map(
    manifest.tables.map(({ name, columns, rows }) => [name, { work: insertionInto(name, columns), rows, loaded: 0 }]),
  );
  const load = async (name: string, entry: Entry): Promise<void> => {
    const table = tables.get(name);
    if (!table) throw damaged(`${entry.name} is not in its manifest`);
    const text = await entry.text();
    try {
      const rows = parseRows(text, table.work.columns);
      await tx.bulk(table.work, rows);
      table.loaded += rows.length;
    } catch (error) {
      if (error instanceof ParleyError) throw error;
      throw damaged(`${entry.name} does not fit (${(error as Error).message})`, error);
    }
  };
  const requireAll = (): void => {
    for (const [name, { rows, loaded }] of tables) {
      if (loaded !== rows) throw damaged(`it has ${loaded} rows of ${name} instead of ${rows}`);
    }
  };
  return { load, requireAll, countOf: (name: string) => tables.get(name)?.loaded ?? 0 };
}
