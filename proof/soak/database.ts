import { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { SQL } from 'bun';
import { databaseFile } from '../../server/store/folder.ts';
import { countKept, type Kept, readKept } from './kept.ts';

/** A look at the database from beside the server. */
export interface Beside extends AsyncDisposable {
  size(): Promise<{ readonly bytes: number; readonly walBytes: number | undefined }>;
  kept(): Promise<Record<Kept, number>>;
}

export const besideDatabase = (env: Readonly<Record<string, string>>): Beside =>
  env.DATABASE_URL === undefined ? besideSqlite(databaseFile(env.PARLEY_DATA ?? '')) : besidePostgres(env.DATABASE_URL);

const bytesOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

const besideSqlite = (file: string): Beside => ({
  size: async () => ({ bytes: bytesOf(file), walBytes: bytesOf(`${file}-wal`) }),
  // Opened for each look and closed at once: whoever reads on keeps the write-ahead log from starting over.
  kept: async () => {
    using database = new Database(file, { readonly: true });
    database.run('PRAGMA busy_timeout = 5000');
    return readKept(database.query(countKept).get() as Record<string, unknown>);
  },
  [Symbol.asyncDispose]: async () => {},
});

/** How much of its write-ahead log PostgreSQL keeps is a setting of its own. */
function besidePostgres(url: string): Beside {
  const sql = new SQL(url, { max: 1 });
  const first = async (query: string) => (await sql.unsafe(query))[0] as Record<string, unknown>;
  return {
    size: async () => {
      const { bytes } = await first('SELECT pg_database_size(current_database()) AS bytes');
      return { bytes: Number(bytes), walBytes: undefined };
    },
    kept: async () => readKept(await first(countKept)),
    [Symbol.asyncDispose]: () => sql.close(),
  };
}
