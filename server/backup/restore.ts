import { ParleyError } from '@parley/contract';
import { dropUnsent, settleFiles } from '../store/backup-files.ts';
import { type Columns, columnsOf, tableNames } from '../store/catalog.ts';
import { releaseAllLeases } from '../store/endpoint-state.ts';
import type { RowWork, Tx, Value } from '../store/engine.ts';
import { noteGap } from '../store/log-cursor.ts';
import { lockSchema, migrateTo, newestVersion } from '../store/migrate.ts';
import { emptyTable, insertionInto } from '../store/table-copy.ts';
import type { Archive, Entry } from './archive-reader.ts';
import { BackupError, damaged } from './failure.ts';
import type { FileSink } from './file-sink.ts';
import { jumpAhead } from './ids.ts';
import type { Manifest } from './manifest.ts';
import { rebuildIndex } from './rebuild-index.ts';
import { leftOut } from './tables.ts';

export interface RestoreParts {
  readonly archive: Archive;
  /** Where the bytes of files go. */
  readonly files: FileSink;
  readonly keepKey: (key: string) => void;
  readonly now: () => number;
  /** What it is about now, where that takes long. */
  readonly say: (line: string) => Promise<void>;
}

export interface RestoreOutcome {
  readonly messages: number;
  readonly files: number;
}

/**
 * Fills an empty database, in a transaction, with what is in a backup: first the schema of then, then the rows, then what
 * has come to the schema since. It is not whole before the backup has been read to its end.
 */
export async function restoreInto(tx: Tx, parts: RestoreParts): Promise<RestoreOutcome> {
  const { archive, files } = parts;
  const { manifest } = archive;
  await requireEmpty(tx);
  await migrateTo(tx, manifest.schema, parts.now);
  await clearTables(tx, manifest);
  const tables = new TableLoader(tx, manifest);
  for await (const entry of archive.entries()) {
    const [folder, name = ''] = entry.name.split('/');
    if (folder === 'tables') await tables.load(name, entry);
    else if (folder === 'files') await files.put(tx, Number(name), entry);
    else if (entry.name === 'secret.key') parts.keepKey(await entry.text());
    else throw damaged(`nobody knows what ${entry.name} is`);
  }
  tables.requireAll();
  // Before the migrations, which may add rows; what they count anew, others may have counted since the backup.
  const jumped = await jumpAhead(tx, manifest, parts.now());
  await migrateTo(tx, newestVersion, parts.now);
  await jumpAhead(tx, manifest, parts.now(), jumped);
  await noteGap(tx, manifest.log_reached);
  await files.settle(archive.missing);
  if (manifest.files.included) await settleFiles(tx, archive.missing);
  else await dropUnsent(tx, Date.parse(manifest.began_at));
  // Whoever drove webhooks does so no more.
  await releaseAllLeases(tx, null);
  await parts.say('Making the search index.');
  await rebuildIndex(tx);
  return { messages: tables.countOf('messages'), files: files.count };
}

/**
 * Refuses a database in which anything is. A server that is being started, or another restore, is waited for: what it has written
 * is seen only then.
 */
export async function requireEmpty(tx: Tx): Promise<void> {
  await lockSchema(tx);
  const [found] = await tableNames(tx);
  if (found === undefined) return;
  throw new BackupError(
    `The database is not empty: it has the table ${found}. Restore into a new one, which no server has used yet.`,
  );
}

/** Migrations leave rows of their own behind. What refers to another goes first. */
async function clearTables(tx: Tx, { tables, schema }: Manifest): Promise<void> {
  const expected = new Set((await tableNames(tx)).filter((name) => !Object.hasOwn(leftOut, name)));
  for (const { name, columns } of tables.toReversed()) {
    // Once each.
    const isSame = expected.delete(name) && Bun.deepEquals(await columnsOf(tx, name), columns);
    if (!isSame) throw damaged(`its table ${name} is not one of schema version ${schema}`);
    await emptyTable(tx, name);
  }
  const [absent] = expected;
  if (absent !== undefined) throw damaged(`the table ${absent} of schema version ${schema} is not in it`);
}

const fits = {
  int: (value: unknown) => Number.isSafeInteger(value),
  text: (value: unknown) => typeof value === 'string',
} as const;

/** The rows of a page, each with a value for every column. */
function parseRows(text: string, columns: Columns): Value[][] {
  const found: unknown = JSON.parse(text);
  const types = Object.values(columns);
  const isRow = (row: unknown): row is Value[] =>
    Array.isArray(row) &&
    row.length === types.length &&
    types.every((type, i) => row[i] === null || fits[type](row[i]));
  if (Array.isArray(found) && found.every(isRow)) return found;
  throw new Error('these are no rows of it');
}

/** Puts the pages of tables where they belong. */
class TableLoader {
  readonly #tx: Tx;
  readonly #tables: ReadonlyMap<string, { work: RowWork; rows: number }>;
  readonly #loaded = new Map<string, number>();

  constructor(tx: Tx, { tables }: Manifest) {
    this.#tx = tx;
    this.#tables = new Map(
      tables.map(({ name, columns, rows }) => [name, { work: insertionInto(name, columns), rows }]),
    );
  }

  async load(name: string, entry: Entry): Promise<void> {
    const table = this.#tables.get(name);
    if (!table) throw damaged(`its manifest does not know ${entry.name}`);
    const text = await entry.text();
    try {
      const rows = parseRows(text, table.work.columns);
      await this.#tx.each(table.work, rows);
      this.#loaded.set(name, this.countOf(name) + rows.length);
    } catch (error) {
      if (error instanceof ParleyError) throw error;
      throw damaged(`${entry.name} does not fit (${(error as Error).message})`, error);
    }
  }

  countOf(name: string): number {
    return this.#loaded.get(name) ?? 0;
  }

  requireAll(): void {
    for (const [name, { rows }] of this.#tables) {
      if (this.countOf(name) !== rows)
        throw damaged(`it has ${this.countOf(name)} rows of ${name} in place of ${rows}`);
    }
  }
}
