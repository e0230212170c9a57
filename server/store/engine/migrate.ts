import { readdirSync, readFileSync } from 'node:fs';
import { embedded } from '../../lib/embedded.ts';
import { startCommand } from '../../lib/program.ts';
import { rebuildIndex } from '../search/rebuild-index.ts';
import type { Engine, Queryable, Tx } from './engine.ts';
import { number } from './query.ts';

/** Holds `<version>_<name>.<engine>.sql`. Forward only: a released file is never changed, and the next gets the next number. */
const folder = new URL('../migrations/', import.meta.url);

const migrations = (embedded ? Object.keys(embedded.migrations) : readdirSync(folder))
  .filter((file) => file.endsWith('.sqlite.sql'))
  .sort()
  .map((file) => ({ version: Number.parseInt(file, 10), name: file.replace('.sqlite.sql', '') }));

const readMigration = (file: string): string =>
  embedded?.migrations[file] ?? readFileSync(new URL(file, folder), 'utf8');

export const newestVersion = Math.max(...migrations.map((m) => m.version));

/** The version that changed the form of the search index and emptied it. */
const indexVersion = 15;

/** A problem with the database that the operator has to fix. The message is for them. */
export class SchemaError extends Error {}

/**
 * Migrates the schema to the newest version. Processes that start together wait for each other. Throws `SchemaError` if a
 * newer Parley has migrated the database.
 */
export async function migrate(engine: Engine, now: () => number): Promise<void> {
  if (await isCurrent(engine)) return;
  await engine.write(async (tx) => {
    const from = await migrateTo(tx, newestVersion, now);
    if (from < indexVersion) await rebuildIndex(tx);
  });
}

/** Keeps all others from changing the schema until the transaction ends. */
export const lockSchema = (tx: Tx): Promise<void> => tx.lockKeys(['schema']);

export const isCurrent = async (engine: Engine): Promise<boolean> => (await currentVersion(engine)) === newestVersion;

/**
 * Migrates up to one version, so that data written with that version can be restored. Returns the version before. The
 * search index may be empty then: the caller rebuilds it.
 */
export async function migrateTo(tx: Tx, version: number, now: () => number): Promise<number> {
  await lockSchema(tx);
  const type = tx.dialect.name === 'sqlite' ? 'INTEGER' : 'BIGINT';
  await tx.run(`CREATE TABLE IF NOT EXISTS schema_versions (version ${type} PRIMARY KEY, applied_at ${type} NOT NULL)`);
  const from = await schemaVersion(tx);
  refuseNewer(from);
  for (const migration of migrations.filter((m) => m.version > from && m.version <= version)) {
    const sql = readMigration(`${migration.name}.${tx.dialect.name}.sql`);
    for (const statement of statements(sql)) await tx.run(statement);
    await tx.run('INSERT INTO schema_versions (version, applied_at) VALUES ($1, $2)', [migration.version, now()]);
  }
  return from;
}

/** Returns the number of the last migration that was applied. */
export const schemaVersion = (db: Queryable): Promise<number> =>
  number(db, 'SELECT max(version) AS version FROM schema_versions');

/** Throws `SchemaError` unless the schema is the one that this version was written for. */
export async function requireCurrentSchema(engine: Engine): Promise<void> {
  const version = await currentVersion(engine);
  refuseNewer(version);
  if (version < newestVersion) {
    throw new SchemaError(
      `The database is not set up for this version of Parley yet. Start the server once: ${startCommand}`,
    );
  }
}

async function currentVersion(engine: Engine): Promise<number> {
  const table = await engine.get(
    engine.dialect.name === 'sqlite'
      ? `SELECT 1 AS found FROM sqlite_schema WHERE name = 'schema_versions'`
      : `SELECT 1 AS found FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'schema_versions'`,
  );
  return table ? schemaVersion(engine) : 0;
}

function refuseNewer(version: number): void {
  if (version <= newestVersion) return;
  throw new SchemaError(
    `The database has schema version ${version}, and this Parley knows only versions up to ${newestVersion}. Run the newer Parley that wrote it, or restore a backup.`,
  );
}

/** Splits a migration at its semicolons. No statement contains another one. */
function statements(sql: string): string[] {
  return sql
    .replace(/--.*$/gm, '')
    .split(';')
    .map((s) => s.trim())
    .filter((s) => s !== '');
}
