import { accessSync, constants, existsSync, writeFileSync } from 'node:fs';
import { processMonotonic } from '../../lib/clock.ts';
import { databaseFile, FolderError, lockFolder, prepareFolder } from '../data-folder/folder.ts';
import { transactionId, wasCommitted } from './commit-outcome.ts';
import type { Engine, Tx } from './engine.ts';
import { isCurrent, migrate, requireCurrentSchema, SchemaError } from './migrate.ts';
import { openPostgres } from './postgres.ts';
import { type Queryable, SqliteSnapshot } from './snapshot.ts';
import { openSqlite } from './sqlite/engine.ts';
import { checkpoint, requireOneFile } from './sqlite/one-file.ts';

export interface StoreSettings {
  readonly folder: string;
  /** The URL of PostgreSQL. Undefined for SQLite in the folder. */
  readonly databaseUrl: string | undefined;
  readonly connections: number;
}

/** Opens the database as its server: locks the folder and migrates the schema. */
export async function openStore(
  settings: StoreSettings,
  now: () => number,
  monotonic = processMonotonic,
): Promise<Engine> {
  prepareFolder(settings.folder);
  const { databaseUrl: url, connections } = settings;
  if (url !== undefined) {
    const engine = openPostgres({ url, maxConnections: 1, hasTimeouts: false });
    try {
      await requireUtf8(engine);
      await migrate(engine, now);
    } finally {
      await engine.close();
    }
    return openPostgres({ url, maxConnections: connections, monotonic });
  }
  const unlock = lockFolder(settings.folder);
  try {
    const file = databaseFile(settings.folder);
    // SQLite gives its other files the same mode.
    if (!existsSync(file)) writeFileSync(file, '', { mode: 0o600 });
    const engine = await openMigrated(file, now, monotonic);
    const close = engine.close.bind(engine);
    engine.close = async () => {
      await close();
      unlock();
    };
    return engine;
  } catch (error) {
    unlock();
    throw error instanceof SchemaError
      ? error
      : new FolderError(`Cannot open the database in ${settings.folder}: ${(error as Error).message}`);
  }
}

async function openMigrated(file: string, now: () => number, monotonic: () => number): Promise<Engine> {
  const engine = await openSqlite(file, { monotonic });
  let isReady = false;
  try {
    isReady = await isCurrent(engine);
  } finally {
    if (!isReady) await engine.close();
  }
  if (isReady) return engine;
  const unlimited = await openSqlite(file, { timeoutMs: Number.POSITIVE_INFINITY });
  await migrate(unlimited, now).finally(() => unlimited.close());
  return openSqlite(file, { monotonic });
}

/** Opens the database beside its server, for the command line. Neither migrates nor locks the folder. */
export async function openAsGuest(settings: StoreSettings): Promise<Engine> {
  if (settings.databaseUrl === undefined) requireDatabase(settings.folder);
  const engine =
    settings.databaseUrl === undefined
      ? await openSqlite(databaseFile(settings.folder))
      : openPostgres({ url: settings.databaseUrl, maxConnections: 1 });
  try {
    await requireCurrentSchema(engine);
  } catch (error) {
    await engine.close();
    throw error;
  }
  return engine;
}

function requireDatabase(folder: string): void {
  try {
    accessSync(databaseFile(folder), constants.R_OK | constants.W_OK);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? new SchemaError(`There is no Parley database in ${folder} yet. Start the server once: npm start`)
      : new FolderError(`Cannot open the database in ${folder}: ${(error as Error).message}`);
  }
}

/** Runs `work` on a snapshot of the database. Its server can write meanwhile. */
export async function withSnapshot<T>(settings: StoreSettings, work: (db: Queryable) => Promise<T>): Promise<T> {
  const { databaseUrl: url, folder } = settings;
  if (url === undefined) {
    const snapshot = new SqliteSnapshot(databaseFile(folder));
    try {
      return await work(snapshot);
    } finally {
      snapshot.close();
    }
  }
  const engine = openPostgres({ url, maxConnections: 1, hasTimeouts: false });
  try {
    return await engine.write(async (tx) => {
      await tx.run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
      await disableIdleTimeout(tx);
      return work(tx);
    });
  } finally {
    await engine.close();
  }
}

/** Fills an empty database in one transaction: PostgreSQL, or a new SQLite database, which is then complete in `file`. */
export function fillStore<T>(
  { databaseUrl: url }: StoreSettings,
  file: string,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return url === undefined ? fillSqlite(file, work) : fillPostgres(url, work);
}

async function fillSqlite<T>(file: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  writeFileSync(file, '', { mode: 0o600 });
  const engine = await openSqlite(file, { timeoutMs: Number.POSITIVE_INFINITY });
  let result: T;
  try {
    result = await engine.write(work);
    checkpoint(file);
  } finally {
    await engine.close();
  }
  await requireOneFile(file);
  return result;
}

async function fillPostgres<T>(url: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  const engine = openPostgres({ url, maxConnections: 1, hasTimeouts: false });
  /** Set when only the commit is left. */
  const done: { readonly result: T; readonly id: string }[] = [];
  try {
    await requireUtf8(engine);
    return await engine.write(async (tx) => {
      await disableIdleTimeout(tx);
      const result = await work(tx);
      done.push({ result, id: await transactionId(tx) });
      return result;
    });
  } catch (error) {
    const last = done.at(-1);
    if (last && (await wasCommitted(engine, last.id, error))) return last.result;
    throw error;
  } finally {
    await engine.close();
  }
}

/** For a transaction that waits for other things between its statements, such as the disk. */
async function disableIdleTimeout(tx: Tx): Promise<void> {
  await tx.run('SET LOCAL idle_in_transaction_session_timeout = 0');
}

async function requireUtf8(engine: Engine): Promise<void> {
  const row = await engine.get<{ encoding: string }>(`SELECT current_setting('server_encoding') AS encoding`);
  if (row?.encoding !== 'UTF8') {
    throw new SchemaError(
      `The PostgreSQL database is encoded as ${row?.encoding}; Parley needs one created with ENCODING 'UTF8'.`,
    );
  }
}
