import { accessSync, constants, existsSync, writeFileSync } from 'node:fs';
import { transactionId, wasCommitted } from './commit-outcome.ts';
import type { Engine, Tx } from './engine.ts';
import { databaseFile, FolderError, lockFolder, prepareFolder } from './folder.ts';
import { isCurrent, migrate, requireCurrentSchema, SchemaError } from './migrate.ts';
import { openPostgres } from './postgres.ts';
import { type Reading, SqliteSnapshot } from './snapshot.ts';
import { openSqlite } from './sqlite/engine.ts';
import { emptyLog, requireOneFile } from './sqlite/one-file.ts';

export interface StoreSettings {
  readonly folder: string;
  /** PostgreSQL; SQLite in the folder where this is undefined. */
  readonly databaseUrl: string | undefined;
  readonly connections: number;
}

/** Opens the database as its server: locks the folder and brings the schema up to date. */
export async function openStore(settings: StoreSettings, now: () => number): Promise<Engine> {
  prepareFolder(settings.folder);
  const { databaseUrl: url, connections } = settings;
  if (url !== undefined) {
    const engine = openPostgres({ url, connections: 1, patient: true });
    try {
      await requireUtf8(engine);
      await migrate(engine, now);
    } finally {
      await engine.close();
    }
    return openPostgres({ url, connections });
  }
  const unlock = lockFolder(settings.folder);
  try {
    const file = databaseFile(settings.folder);
    // SQLite gives the files beside it the same mode.
    if (!existsSync(file)) writeFileSync(file, '', { mode: 0o600 });
    const engine = await openMigrated(file, now);
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

async function openMigrated(file: string, now: () => number): Promise<Engine> {
  const engine = await openSqlite(file);
  let isReady = false;
  try {
    isReady = await isCurrent(engine);
  } finally {
    if (!isReady) await engine.close();
  }
  if (isReady) return engine;
  const patient = await openSqlite(file, Number.POSITIVE_INFINITY);
  await migrate(patient, now).finally(() => patient.close());
  return openSqlite(file);
}

/** Opens the database beside its server, for the command line: changes no schema and takes no lock. */
export async function openAsGuest(settings: StoreSettings): Promise<Engine> {
  if (settings.databaseUrl === undefined) requireDatabase(settings.folder);
  const engine =
    settings.databaseUrl === undefined
      ? await openSqlite(databaseFile(settings.folder))
      : openPostgres({ url: settings.databaseUrl, connections: 1 });
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

/** Reads the database as it is at one moment, for as long as `work` takes, while its server writes on. */
export async function atOneMoment<T>(settings: StoreSettings, work: (db: Reading) => Promise<T>): Promise<T> {
  const { databaseUrl: url, folder } = settings;
  if (url === undefined) {
    const snapshot = new SqliteSnapshot(databaseFile(folder));
    try {
      return await work(snapshot);
    } finally {
      snapshot.close();
    }
  }
  const engine = openPostgres({ url, connections: 1, patient: true });
  try {
    return await engine.write(async (tx) => {
      await tx.run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
      await beUnhurried(tx);
      return work(tx);
    });
  } finally {
    await engine.close();
  }
}

/** Fills a database that has no schema yet, in one transaction: PostgreSQL, or else a new SQLite, which is then all in this file. */
export function fillStore<T>(
  { databaseUrl: url }: StoreSettings,
  file: string,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return url === undefined ? fillSqlite(file, work) : fillPostgres(url, work);
}

async function fillSqlite<T>(file: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  writeFileSync(file, '', { mode: 0o600 });
  const engine = await openSqlite(file, Number.POSITIVE_INFINITY);
  let result: T;
  try {
    result = await engine.write(work);
    emptyLog(file);
  } finally {
    await engine.close();
  }
  await requireOneFile(file);
  return result;
}

async function fillPostgres<T>(url: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  const engine = openPostgres({ url, connections: 1, patient: true });
  /** Once there is nothing left to do but the commit. */
  const done: { readonly result: T; readonly id: string }[] = [];
  try {
    await requireUtf8(engine);
    return await engine.write(async (tx) => {
      await beUnhurried(tx);
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

/** PostgreSQL ends a transaction of ours that asks nothing for some seconds; this one has other things to wait for. */
async function beUnhurried(tx: Tx): Promise<void> {
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
