import { temporaryFolder } from '../../../server/test/support/cleanup.ts';
import { startOnServerCore } from '../machine.ts';
import type { ParleyUnderTest } from '../parley.ts';

/** What the process of `bare/insert.ts` is asked to do. */
export interface InsertJob {
  /** A file of SQLite, or the address of PostgreSQL. */
  readonly database: string;
  /** What makes the tables. */
  readonly schema: readonly string[];
  readonly tables: readonly InsertTable[];
  /** Rows of each table in one transaction, and transactions under way at once. */
  readonly batch: number;
  readonly writers: number;
  readonly seconds: number;
  readonly out: string;
}

/** A table and the row that is written into it again and again, under a new key. */
export interface InsertTable {
  readonly name: string;
  readonly key: string;
  readonly row: Readonly<Record<string, string | number | null>>;
}

export interface Inserts {
  /** Messages, each with its event. */
  readonly perSecond: number;
  /** Of a transaction. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface Inserting {
  readonly batch: number;
  run(seconds: number): Promise<Inserts>;
}

const batch = 64;

/**
 * Makes ready to write the rows of a message and its event into tables like Parley's own, with the same indexes, as
 * durably, and with nothing around it: in a file beside Parley's, or in another schema of its database.
 */
export async function startInserting({ engine, databaseUrl }: ParleyUnderTest): Promise<Inserting> {
  const row = async (table: string, key: string): Promise<InsertTable> => {
    const found = await engine.get<InsertTable['row']>(`SELECT * FROM ${table} ORDER BY ${key} DESC LIMIT 1`);
    if (!found) throw new Error(`${table} has no row to write again`);
    return { name: table, key, row: found };
  };
  const tables = [await row('messages', 'message_id'), await row('events', 'event_id')];
  const schema = await schemaOf(tables);
  const database = databaseUrl ?? `${temporaryFolder()}/bare.sqlite`;
  return {
    batch,
    async run(seconds) {
      const out = `${temporaryFolder()}/inserts`;
      const job: InsertJob = { database, schema, tables, batch, writers: engine.writers, seconds, out };
      await using child = startOnServerCore(['proof/bench/bare/insert.ts'], {}, JSON.stringify(job));
      while (!child.hasEnded) await Bun.sleep(20);
      if (!(await Bun.file(out).exists())) child.check();
      return (await Bun.file(out).json()) as Inserts;
    },
  };

  async function schemaOf(copied: readonly InsertTable[]): Promise<string[]> {
    if (engine.dialect.name === 'postgres') {
      const likes = copied.map(({ name }) => `CREATE TABLE bare.${name} (LIKE public.${name} INCLUDING ALL)`);
      return ['DROP SCHEMA IF EXISTS bare CASCADE', 'CREATE SCHEMA bare', ...likes];
    }
    const names = copied.map(({ name }) => `'${name}'`).join(', ');
    const made = `SELECT sql FROM sqlite_master WHERE tbl_name IN (${names}) AND sql IS NOT NULL ORDER BY type DESC`;
    return (await engine.all<{ sql: string }>(made)).map(({ sql }) => sql);
  }
}
