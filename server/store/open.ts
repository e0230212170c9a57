import { existsSync, writeFileSync } from 'node:fs';
import type { Engine } from './engine.ts';
import { databaseFile, FolderError, lockFolder, prepareFolder } from './folder.ts';
import { migrate, requireCurrentSchema, SchemaError } from './migrate.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';

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
    const engine = openSqlite(file);
    await migrate(engine, now);
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

/** Opens the database beside its server, for the command line: changes no schema and takes no lock. */
export async function openAsGuest(settings: StoreSettings): Promise<Engine> {
  if (settings.databaseUrl === undefined && !existsSync(databaseFile(settings.folder))) {
    throw new SchemaError(`There is no Parley database in ${settings.folder} yet. Start the server once: npm start`);
  }
  const engine =
    settings.databaseUrl === undefined
      ? openSqlite(databaseFile(settings.folder))
      : openPostgres({ url: settings.databaseUrl, connections: 1 });
  try {
    await requireCurrentSchema(engine);
  } catch (error) {
    await engine.close();
    throw error;
  }
  return engine;
}

async function requireUtf8(engine: Engine): Promise<void> {
  const row = await engine.get<{ encoding: string }>(`SELECT current_setting('server_encoding') AS encoding`);
  if (row?.encoding !== 'UTF8') {
    throw new SchemaError(
      `The PostgreSQL database is encoded as ${row?.encoding}; Parley needs one created with ENCODING 'UTF8'.`,
    );
  }
}
