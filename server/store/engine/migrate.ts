import foundationPostgres from '../migrations/0001_foundation.postgres.sql' with { type: 'text' };
import foundationSqlite from '../migrations/0001_foundation.sqlite.sql' with { type: 'text' };
import webhooksPostgres from '../migrations/0002_webhooks.postgres.sql' with { type: 'text' };
import webhooksSqlite from '../migrations/0002_webhooks.sqlite.sql' with { type: 'text' };
import accountsPostgres from '../migrations/0003_accounts.postgres.sql' with { type: 'text' };
import accountsSqlite from '../migrations/0003_accounts.sqlite.sql' with { type: 'text' };
import filesPostgres from '../migrations/0004_files.postgres.sql' with { type: 'text' };
import filesSqlite from '../migrations/0004_files.sqlite.sql' with { type: 'text' };
import uploadLeasesPostgres from '../migrations/0005_upload_leases.postgres.sql' with { type: 'text' };
import uploadLeasesSqlite from '../migrations/0005_upload_leases.sqlite.sql' with { type: 'text' };
import nodesPostgres from '../migrations/0006_nodes.postgres.sql' with { type: 'text' };
import nodesSqlite from '../migrations/0006_nodes.sqlite.sql' with { type: 'text' };
import logGapsPostgres from '../migrations/0007_log_gaps.postgres.sql' with { type: 'text' };
import logGapsSqlite from '../migrations/0007_log_gaps.sqlite.sql' with { type: 'text' };
import endedStaysPostgres from '../migrations/0008_ended_stays.postgres.sql' with { type: 'text' };
import endedStaysSqlite from '../migrations/0008_ended_stays.sqlite.sql' with { type: 'text' };
import retriesPostgres from '../migrations/0009_retries.postgres.sql' with { type: 'text' };
import retriesSqlite from '../migrations/0009_retries.sqlite.sql' with { type: 'text' };
import messageTermsPostgres from '../migrations/0010_message_terms.postgres.sql' with { type: 'text' };
import messageTermsSqlite from '../migrations/0010_message_terms.sqlite.sql' with { type: 'text' };
import endpointStatePostgres from '../migrations/0011_endpoint_state.postgres.sql' with { type: 'text' };
import endpointStateSqlite from '../migrations/0011_endpoint_state.sqlite.sql' with { type: 'text' };
import messageEventsPostgres from '../migrations/0012_message_events.postgres.sql' with { type: 'text' };
import messageEventsSqlite from '../migrations/0012_message_events.sqlite.sql' with { type: 'text' };
import type { Engine, Tx } from './engine.ts';
import type { Queryable } from './snapshot.ts';

/** Forward only. A released migration is never changed; the next one gets the next number. */
const migrations = [
  { version: 1, sqlite: foundationSqlite, postgres: foundationPostgres },
  { version: 2, sqlite: webhooksSqlite, postgres: webhooksPostgres },
  { version: 3, sqlite: accountsSqlite, postgres: accountsPostgres },
  { version: 4, sqlite: filesSqlite, postgres: filesPostgres },
  { version: 5, sqlite: uploadLeasesSqlite, postgres: uploadLeasesPostgres },
  { version: 6, sqlite: nodesSqlite, postgres: nodesPostgres },
  { version: 7, sqlite: logGapsSqlite, postgres: logGapsPostgres },
  { version: 8, sqlite: endedStaysSqlite, postgres: endedStaysPostgres },
  { version: 9, sqlite: retriesSqlite, postgres: retriesPostgres },
  { version: 10, sqlite: messageTermsSqlite, postgres: messageTermsPostgres },
  { version: 11, sqlite: endpointStateSqlite, postgres: endpointStatePostgres },
  { version: 12, sqlite: messageEventsSqlite, postgres: messageEventsPostgres },
] as const;

export const newestVersion = Math.max(...migrations.map((m) => m.version));

/** A problem with the database that the operator has to fix. The message is for them. */
export class SchemaError extends Error {}

/**
 * Migrates the schema to the newest version. Processes that start together wait for each other. Throws `SchemaError` if a
 * newer Parley has migrated the database.
 */
export async function migrate(engine: Engine, now: () => number): Promise<void> {
  if (await isCurrent(engine)) return;
  await engine.write((tx) => migrateTo(tx, newestVersion, now));
}

/** Keeps all others from changing the schema until the transaction ends. */
export const lockSchema = (tx: Tx): Promise<void> => tx.lockKeys(['schema']);

export const isCurrent = async (engine: Engine): Promise<boolean> => (await currentVersion(engine)) === newestVersion;

/** Migrates up to one version, so that data written with that version can be restored. */
export async function migrateTo(tx: Tx, version: number, now: () => number): Promise<void> {
  await lockSchema(tx);
  await tx.run(
    `CREATE TABLE IF NOT EXISTS schema_versions (version ${tx.dialect.name === 'sqlite' ? 'INTEGER' : 'BIGINT'} PRIMARY KEY, applied_at ${tx.dialect.name === 'sqlite' ? 'INTEGER' : 'BIGINT'} NOT NULL)`,
  );
  const from = await schemaVersion(tx);
  refuseNewer(from);
  for (const migration of migrations.filter((m) => m.version > from && m.version <= version)) {
    for (const statement of statements(migration[tx.dialect.name])) await tx.run(statement);
    await tx.run('INSERT INTO schema_versions (version, applied_at) VALUES ($1, $2)', migration.version, now());
  }
}

/** Returns the number of the last migration that was applied. */
export async function schemaVersion(db: Queryable): Promise<number> {
  const [row] = await db.all<{ version: number | null }>('SELECT max(version) AS version FROM schema_versions');
  return row?.version ?? 0;
}

/** Throws `SchemaError` unless the schema is the one that this version was written for. */
export async function requireCurrentSchema(engine: Engine): Promise<void> {
  const version = await currentVersion(engine);
  refuseNewer(version);
  if (version < newestVersion) {
    throw new SchemaError(
      'The database is not set up for this version of Parley yet. Start the server once: npm start',
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
