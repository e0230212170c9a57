import type { EventId, MessageId } from '@parley/contract';
import { SQL } from 'bun';
import type { Db, Dialect, Engine, RowStatement, Tx, Value } from './engine.ts';
import { asUnavailable } from './failure.ts';

const columnTypes = { int: 'bigint', text: 'text' } as const;

export const postgresDialect: Dialect = {
  name: 'postgres',
  rows: (param, columns, alias) => {
    const list = Object.entries(columns).map(([name, type]) => `${name} ${columnTypes[type]}`);
    return `json_to_recordset(CAST(CAST(${param} AS text) AS json)) AS ${alias}(${list.join(', ')})`;
  },
  firstIdsPerRow: (outer, inner, limit, alias) =>
    `${outer} CROSS JOIN LATERAL (SELECT event_id AS id FROM (${inner} LIMIT ${limit}) AS first) AS ${alias}`,
};

/** Transactions that the server ended so that another could go on; run again, they succeed. */
const retryable = new Set(['40001', '40P01']);
const attempts = 5;

/** Advisory lock numbers: the lowest two bits tell the kinds apart. */
const eventLock = 0n;
const keyLock = (key: string) => (BigInt.asIntN(62, BigInt(Bun.hash(key))) << 2n) | 1n;
const chatLock = (chatId: number) => (BigInt(chatId) << 2n) | 2n;

type Query = Pick<SQL, 'unsafe'>;

class Session implements Db {
  readonly dialect = postgresDialect;
  readonly #sql: Query;

  constructor(sql: Query) {
    this.#sql = sql;
  }

  async all<R extends object>(sql: string, ...params: Value[]): Promise<R[]> {
    const rows = (await this.query(sql, params)) as Record<string, unknown>[];
    for (const row of rows) {
      for (const column in row) {
        const value = row[column];
        if (typeof value === 'bigint') row[column] = Number(value);
      }
    }
    return rows as R[];
  }

  async get<R extends object>(sql: string, ...params: Value[]): Promise<R | undefined> {
    const [row] = await this.all<R>(sql, ...params);
    return row;
  }

  async run(sql: string, ...params: Value[]): Promise<number> {
    const result = (await this.query(sql, params)) as { count: number };
    return result.count;
  }

  each<R extends object>(
    statement: RowStatement,
    rows: readonly (readonly Value[])[],
    ...params: Value[]
  ): Promise<R[]> {
    if (rows.length === 0) return Promise.resolve([]);
    const names = Object.keys(statement.columns);
    const objects = rows.map((values) => Object.fromEntries(names.map((name, i) => [name, values[i] ?? null])));
    const source = this.dialect.rows(`$${params.length + 1}`, statement.columns, 'given');
    return this.all(statement.sql(`(SELECT * FROM ${source})`), ...params, JSON.stringify(objects));
  }

  /** Whole numbers go as bigint whatever their size: Bun would otherwise prepare a statement per width of number. */
  protected async query(sql: string, params: readonly (Value | bigint)[]): Promise<unknown> {
    try {
      return await this.#sql.unsafe(
        sql,
        params.map((p) => (typeof p === 'number' ? BigInt(p) : p)),
      );
    } catch (error) {
      throw asUnavailable(error);
    }
  }
}

class Transaction extends Session implements Tx {
  async lockKeys(keys: readonly string[]): Promise<void> {
    const numbers = [...new Set(keys.map(keyLock))].sort((a, b) => (a < b ? -1 : 1));
    await this.query(`SELECT pg_advisory_xact_lock(k) FROM unnest(CAST(string_to_array($1, ',') AS bigint[])) AS k`, [
      numbers.join(','),
    ]);
  }

  async tryLock(key: string): Promise<boolean> {
    const row = (await this.query('SELECT pg_try_advisory_xact_lock($1) AS got', [keyLock(key)])) as { got: boolean }[];
    return row[0]?.got === true;
  }

  async lockChat(chatId: number): Promise<void> {
    await this.query('SELECT pg_advisory_xact_lock($1)', [chatLock(chatId)]);
  }

  /** The lock comes first: a row of `numbers` cannot be made, nor its ids taken, before the CTE has given its row. */
  async takeIds(count: { messages: number; events: number }) {
    const rows = await this.all<{ message_id: MessageId | null; event_id: EventId | null }>(
      `WITH held AS MATERIALIZED (SELECT pg_advisory_xact_lock(${eventLock}))
       SELECT CASE WHEN n <= $1 THEN nextval('message_ids') END AS message_id,
              CASE WHEN n <= $2 THEN nextval('event_ids') END AS event_id
       FROM held, generate_series(1, CAST($3 AS bigint)) AS n`,
      count.messages,
      count.events,
      Math.max(count.messages, count.events),
    );
    const present = <T>(id: T | null): id is T => id !== null;
    return {
      messages: rows.map((r) => r.message_id).filter(present),
      events: rows.map((r) => r.event_id).filter(present),
    };
  }
}

class PostgresEngine extends Session implements Engine {
  readonly #pool: SQL;

  constructor(pool: SQL) {
    super(pool);
    this.#pool = pool;
  }

  async write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return (await this.#pool.begin((sql) => work(new Transaction(sql)))) as T;
      } catch (error) {
        const { errno } = (error ?? {}) as { errno?: unknown };
        if (attempt < attempts && typeof errno === 'string' && retryable.has(errno)) continue;
        throw asUnavailable(error);
      }
    }
  }

  async close(): Promise<void> {
    await this.#pool.close({ timeout: 5 });
  }
}

export interface PostgresOptions {
  readonly url: string;
  /** Connections at most. */
  readonly connections: number;
}

export function openPostgres({ url, connections }: PostgresOptions): Engine {
  return new PostgresEngine(
    new SQL(url, {
      max: connections,
      bigint: true,
      connection: {
        application_name: 'parley',
        statement_timeout: '30000',
        lock_timeout: '20000',
        // Statements are planned once, some while the tables are still small; every one of ours has an index to use.
        enable_seqscan: 'off',
      },
    }),
  );
}
