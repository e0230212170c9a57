import { accessSync, constants, existsSync, writeFileSync } from 'node:fs';
import { processMonotonic } from '../../lib/clock.ts';
import { startCommand } from '../../lib/program.ts';
import { databaseFile, FolderError, lockFolder, prepareFolder } from '../data-folder/folder.ts';
import { transactionId, wasCommitted } from './commit-outcome.ts';
import type { Engine, Queryable, Tx } from './engine.ts';
import { asUnavailable } from './failure.ts';
import { isCurrent, migrate, requireCurrentSchema, SchemaError } from './migrate.ts';
import { openPostgres } from './postgres.ts';
import { Connection } from './sqlite/connection.ts';
import { sqliteDialect } from './sqlite/dialect.ts';
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
    await onUnlimitedPostgres(url, (engine) => migrate(engine, now));
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
  await onUnlimitedSqlite(file, (unlimited) => migrate(unlimited, now));
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
      ? new SchemaError(`There is no Parley database in ${folder} yet. Start the server once: ${startCommand}`)
      : new FolderError(`Cannot open the database in ${folder}: ${(error as Error).message}`);
  }
}

/** Runs `work` on a snapshot of the database. Its server can write meanwhile. */
export async function withSnapshot<T>(settings: StoreSettings, work: (db: Queryable) => Promise<T>): Promise<T> {
  const { databaseUrl: url, folder } = settings;
  if (url === undefined) return withSqliteSnapshot(databaseFile(folder), work);
  return onUnlimitedPostgres(url, (engine) =>
    engine.write(async (tx) => {
      await tx.run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
      await disableIdleTimeout(tx);
      return work(tx);
    }),
  );
}

/** Uses a connection of its own. The write-ahead log grows until `work` ends. */
export async function withSqliteSnapshot<T>(file: string, work: (db: Queryable) => Promise<T>): Promise<T> {
  const connection = new Connection(file, { readonly: true });
  try {
    connection.run('BEGIN');
    // The first read fixes the snapshot.
    connection.get('SELECT 1 FROM sqlite_schema');
    return await work({ dialect: sqliteDialect, all: async (sql, params) => connection.all(sql, params) });
  } catch (error) {
    throw asUnavailable(error);
  } finally {
    connection.close();
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
  const result = await onUnlimitedSqlite(file, async (engine) => {
    const result = await engine.write(work);
    checkpoint(file);
    return result;
  });
  await requireOneFile(file);
  return result;
}

function fillPostgres<T>(url: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  /** Set when only the commit is left. */
  const done: { readonly result: T; readonly id: string }[] = [];
  return onUnlimitedPostgres(url, async (engine) => {
    try {
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
    }
  });
}

async function onUnlimitedSqlite<T>(file: string, work: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = await openSqlite(file, { timeoutMs: Number.POSITIVE_INFINITY });
  return work(engine).finally(() => engine.close());
}

/** Throws `SchemaError` if Parley does not support the database. */
async function onUnlimitedPostgres<T>(url: string, work: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = openPostgres({ url, maxConnections: 1, hasTimeouts: false });
  return requireSupported(engine)
    .then(() => work(engine))
    .finally(() => engine.close());
}

/** For a transaction that waits for other things between its statements, such as the disk. */
async function disableIdleTimeout(tx: Tx): Promise<void> {
  await tx.run('SET LOCAL idle_in_transaction_session_timeout = 0');
}

/** Since PostgreSQL 14, arrays can be trimmed in SQL, which our bulk statements do. */
const oldestPostgres = 14;

async function requireSupported(engine: Engine): Promise<void> {
  const server = await engine
    .get<PostgresServer>(
      `SELECT CAST(current_setting('server_version_num') AS bigint) AS version,
         current_setting('server_encoding') AS encoding, current_setting('enable_seqscan') AS seqscan`,
    )
    .catch((error: unknown) => {
      const { cause = error } = error as Error;
      throw isOfPooler((cause as Error).message) ? new SchemaError(noPooler) : error;
    });
  const fault = server && unsupported(server);
  if (fault) throw new SchemaError(fault);
}

/** PgBouncer rejects settings of connections, and mixes up the prepared statements of its clients. */
const isOfPooler = (message: string) => /unsupported startup parameter|prepared statement/.test(message);

const noPooler =
  'DATABASE_URL leads to a connection pooler, such as PgBouncer, that changes connections. Use the URL of PostgreSQL itself: Parley has its own pool (PARLEY_DATABASE_CONNECTIONS).';

interface PostgresServer {
  readonly version: number;
  readonly encoding: string;
  /** Every connection sets it to `off`. A pooler may drop that. */
  readonly seqscan: string;
}

/** Returns why Parley does not support this server. Returns undefined if it does. */
export function unsupported({ version, encoding, seqscan }: PostgresServer): string | undefined {
  const major = Math.floor(version / 10_000);
  if (major < oldestPostgres) return `This is PostgreSQL ${major}. Parley needs version ${oldestPostgres} or newer.`;
  if (encoding !== 'UTF8') {
    return `The PostgreSQL database is encoded as ${encoding}; Parley needs one created with ENCODING 'UTF8'.`;
  }
  return seqscan === 'off' ? undefined : noPooler;
}
