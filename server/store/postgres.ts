import type { EventId, MessageId } from '@parley/contract';
import { SQL } from 'bun';
import {
  Appending,
  type Committed,
  type Db,
  type Dialect,
  type Engine,
  idsUpTo,
  type LogEntry,
  type RowWork,
  type Tx,
  type Value,
} from './engine.ts';
import { asUnavailable } from './failure.ts';

const columnTypes = { int: 'bigint', text: 'text' } as const;

export const postgresDialect: Dialect = {
  name: 'postgres',
  now: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)',
  lockRows: 'FOR UPDATE OF d',
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

const texts = new Map<RowWork, string>();

/** All statements as one, so that the rows are sent and taken apart once. Comes after `taken` parameters. */
function textOf(work: RowWork, taken: number): string {
  const known = texts.get(work);
  if (known !== undefined) return known;
  const arrays = Object.values(work.columns).map((type, c) => {
    // Every value is followed by a separator: so a single empty text is told from no text at all.
    const array = `trim_array(string_to_array($${taken + 3 + c}, $${taken + 1}, $${taken + 2}), 1)`;
    return type === 'int' ? `CAST(${array} AS bigint[])` : array;
  });
  const names = Object.keys(work.columns).join(', ');
  const parts = work.statements.map((statement) => statement('(SELECT * FROM given)'));
  const steps = parts.slice(0, -1).map((part, i) => `, step${i} AS (${part})`);
  const given = `SELECT * FROM unnest(${arrays.join(', ')}) AS taken(${names})`;
  const text = `WITH given AS MATERIALIZED (${given})${steps.join('')} ${parts.at(-1)}`;
  texts.set(work, text);
  return text;
}

/** Two characters that stand in no text of these rows. Control characters hardly ever do, so the first look is enough. */
function unusedCharacters(rows: readonly (readonly Value[])[]): [string, string] {
  const isUnused = (character: string) =>
    !rows.some((row) => row.some((v) => typeof v === 'string' && v.includes(character)));
  const free: string[] = [];
  for (let code = 0x1e; free.length < 2; code++) {
    const character = String.fromCharCode(code);
    if (isUnused(character)) free.push(character);
  }
  return free as [string, string];
}

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

  /**
   * Each column goes as one text, its values joined by a character that occurs in none of them. As JSON the rows took half
   * as long again to insert, and twice the time here: our texts are JSON themselves, and all their quotes were escaped.
   */
  each<R extends object>(work: RowWork, rows: readonly (readonly Value[])[], ...params: Value[]): Promise<R[]> {
    if (rows.length === 0) return Promise.resolve([]);
    const [separator, absent] = unusedCharacters(rows);
    const columns = Object.keys(work.columns).map(
      (_, c) => rows.map((row) => row[c] ?? absent).join(separator) + separator,
    );
    return this.all(textOf(work, params.length), ...params, separator, absent, ...columns);
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
  readonly appending = new Appending();

  appended(events: readonly LogEntry[]): void {
    this.appending.add(events);
  }

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

  /** In one statement, and yet in order: what is selected from the CTE is not worked out before the CTE has its row. */
  async takeIds(count: { messages: number; events: number }) {
    const last = await this.get<{ message_id: number | null; event_id: number | null }>(
      `WITH held AS MATERIALIZED (SELECT pg_advisory_xact_lock(${eventLock}))
       SELECT CASE WHEN $1 > 0 THEN setval('message_ids', nextval('message_ids') + $1 - 1) END AS message_id,
              CASE WHEN $2 > 0 THEN setval('event_ids', nextval('event_ids') + $2 - 1) END AS event_id
       FROM held`,
      count.messages,
      count.events,
    );
    const events = idsUpTo(last?.event_id ?? 0, count.events) as EventId[];
    this.appending.took(events);
    return { messages: idsUpTo(last?.message_id ?? 0, count.messages) as MessageId[], events };
  }
}

class PostgresEngine extends Session implements Engine {
  /** While one waits for the server, the other is put together or its answers are sent. */
  readonly writers = 2;
  committed: (stretch: Committed) => void = () => {};
  readonly #pool: SQL;

  constructor(pool: SQL) {
    super(pool);
    this.#pool = pool;
  }

  async write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        let appending: Appending | undefined;
        const result = (await this.#pool.begin((sql) => {
          const tx = new Transaction(sql);
          appending = tx.appending;
          return work(tx);
        })) as T;
        const stretch = appending?.stretch;
        if (stretch) this.committed(stretch);
        return result;
      } catch (error) {
        const { errno } = (error ?? {}) as { errno?: unknown };
        if (attempt < attempts && typeof errno === 'string' && retryable.has(errno)) continue;
        throw asUnavailable(error);
      }
    }
  }

  writeSoon<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.write(async (tx) => {
      await tx.run('SET LOCAL synchronous_commit = off');
      return work(tx);
    });
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
      connectionTimeout: 5,
      connection: {
        application_name: 'parley',
        statement_timeout: '30000',
        lock_timeout: '20000',
        // Statements are planned once, some while the tables are still small; every one of ours has an index to use.
        // None is so large that compiling it would pay.
        enable_seqscan: 'off',
        jit: 'off',
      },
    }),
  );
}
