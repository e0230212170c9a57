import { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { SQL } from 'bun';
import { databaseFile } from '../../server/store/data-folder/folder.ts';
import type { Environment } from '../harness/child.ts';
import { countQuery, type RowCounts, readCounts } from './rows.ts';

/** Measures the database from beside the server. */
export interface DatabaseProbe extends AsyncDisposable {
  size(): Promise<{ readonly bytes: number; readonly walBytes: number | undefined }>;
  rows(): Promise<RowCounts>;
}

export const openProbe = (env: Environment): DatabaseProbe =>
  env.DATABASE_URL === undefined ? probeSqlite(databaseFile(env.PARLEY_DATA ?? '')) : probePostgres(env.DATABASE_URL);

const bytesOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

const probeSqlite = (file: string): DatabaseProbe => ({
  size: async () => ({ bytes: bytesOf(file), walBytes: bytesOf(`${file}-wal`) }),
  // Opened each time: an open reader keeps the write-ahead log from starting over.
  rows: async () => {
    using database = new Database(file, { readonly: true });
    database.run('PRAGMA busy_timeout = 5000');
    return readCounts(database.query(countQuery).get() as Record<string, unknown>);
  },
  [Symbol.asyncDispose]: async () => {},
});

/** The size of the write-ahead log of PostgreSQL is a setting of its own. */
function probePostgres(url: string): DatabaseProbe {
  const sql = new SQL(url, { max: 1 });
  const first = async (query: string) => (await sql.unsafe(query))[0] as Record<string, unknown>;
  return {
    size: async () => {
      const { bytes } = await first('SELECT pg_database_size(current_database()) AS bytes');
      return { bytes: Number(bytes), walBytes: undefined };
    },
    rows: async () => readCounts(await first(countQuery)),
    [Symbol.asyncDispose]: () => sql.close(),
  };
}
