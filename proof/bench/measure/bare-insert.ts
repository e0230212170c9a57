import { temporaryFolder } from '../../../server/test/support/cleanup.ts';
import { type Parley, runBare } from '../parley.ts';

/** The input of `bare/insert.ts`. */
export interface InsertJob {
  /** A file of SQLite, or the URL of PostgreSQL. */
  readonly database: string;
  /** The statements that create the tables. */
  readonly schema: readonly string[];
  readonly tables: readonly InsertTable[];
  /** Rows of each table in one transaction, and concurrent transactions. */
  readonly batch: number;
  readonly writers: number;
  readonly seconds: number;
  /** Posts each batch once it is committed. Batches then begin at fixed times. */
  readonly post?: Post;
}

/** A request of `bare/insert.ts`. Its header `x-began` tells when its batch began, in ms since 1970. */
export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly perSecond: number;
}

/** A table, and a row that is inserted again and again under new keys. */
export interface InsertTable {
  readonly name: string;
  readonly key: string;
  readonly row: Readonly<Record<string, string | number | null>>;
}

export const batch = 64;

/**
 * Prepares inserts of a message and its event into tables with the columns and indexes of Parley's, equally durable: in a
 * file beside Parley's, or in another schema of its database. Returns a function that inserts for some seconds, and returns
 * how many messages it inserted in a second.
 */
export async function prepareInserts({ engine, admin }: Parley) {
  const row = async (table: string, key: string): Promise<InsertTable> => {
    const found = await engine.get<InsertTable['row']>(`SELECT * FROM ${table} ORDER BY ${key} DESC LIMIT 1`);
    if (!found) throw new Error(`${table} has no row to copy`);
    return { name: table, key, row: found };
  };
  const tables = [await row('messages', 'message_id'), await row('events', 'event_id')];
  const names = tables.map(({ name }) => name);
  const schemaOf = async (): Promise<string[]> => {
    if (engine.dialect.name === 'postgres') {
      const likes = names.map((name) => `CREATE TABLE bare.${name} (LIKE public.${name} INCLUDING ALL)`);
      return ['DROP SCHEMA IF EXISTS bare CASCADE', 'CREATE SCHEMA bare', ...likes];
    }
    const list = names.map((name) => `'${name}'`).join(', ');
    const made = `SELECT sql FROM sqlite_master WHERE tbl_name IN (${list}) AND sql IS NOT NULL ORDER BY type DESC`;
    return (await engine.all<{ sql: string }>(made)).map(({ sql }) => sql);
  };
  const schema = await schemaOf();
  const database = admin.env.DATABASE_URL ?? `${temporaryFolder()}/bare.sqlite`;
  return (options: Pick<InsertJob, 'seconds'> & Partial<InsertJob>): Promise<number> => {
    const job: InsertJob = { database, schema, tables, batch, writers: engine.writers, ...options };
    return runBare<number>('insert', job);
  };
}
