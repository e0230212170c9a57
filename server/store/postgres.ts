import type { EventId, MessageId } from '@parley/contract';
import { SQL } from 'bun';
import { type Asked, Connections } from './connections.ts';
import {
  Appending,
  type By,
  type Db,
  type Dialect,
  type Engine,
  idsUpTo,
  type LogBatch,
  type LogEntry,
  type Lookup,
  type RowWork,
  type Tx,
  type Value,
} from './engine.ts';
import { asUnavailable } from './failure.ts';
import { GatheredLookups, lookupTexts, numbersOf } from './lookup.ts';

const columnTypes = { int: 'bigint', text: 'text' } as const;

export const postgresDialect: Dialect = {
  name: 'postgres',
  now: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)',
  lastEventId: '(SELECT last_value FROM event_ids)',
  lockRows: 'FOR UPDATE OF d',
  // As pairs: with an equal value PostgreSQL would rather go through the whole table by another index that has the order, and pick
  // out the rows with that value: those of a chat that has been quiet may be a million messages of others away. A pair tells
  // where to begin, but not where to end: there the first column does.
  onwards: ([first, second], value, after) =>
    `(${first}, ${second}) > (${value}, CAST(${after} AS bigint)) AND ${first} <= ${value}`,
  backwards: ([first, second], value, upTo) =>
    `(${first}, ${second}) <= (${value}, CAST(${upTo} AS bigint)) AND ${first} >= ${value}`,
  // As one of a list: that the rows need not be ordered by it, PostgreSQL does not see then.
  isOne: (column, value) => `${column} = ANY (ARRAY[${value}])`,
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
type Parameter = string | bigint | null;

const texts = new Map<RowWork, string>();
const lookupText = lookupTexts(postgresDialect);

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

abstract class Session implements Db {
  readonly dialect = postgresDialect;

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

  look<R extends object, N extends string>(lookup: Lookup<N>, by: By<N>): Promise<R | undefined> {
    return this.get(lookupText(lookup), ...numbersOf(lookup, by));
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
      return await this.ask(
        sql,
        params.map((p) => (typeof p === 'number' ? BigInt(p) : p)),
      );
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  protected abstract ask(sql: string, params: Parameter[]): Promise<unknown>;
}

class Transaction extends Session implements Tx {
  readonly appending = new Appending();
  readonly finishing: Promise<unknown>[] = [];
  /** Milliseconds that it waited for the event lock, and since when it has it. */
  waitedMs = 0;
  lockedAt: number | undefined;
  readonly #sql: Query;
  readonly #asked: Asked;

  constructor(sql: Query, asked: Asked) {
    super();
    this.#sql = sql;
    this.#asked = asked;
  }

  protected async ask(sql: string, params: Parameter[]): Promise<unknown> {
    this.#asked.at = performance.now();
    const answer = await this.#sql.unsafe(sql, params);
    this.#asked.at = performance.now();
    return answer;
  }

  finish(work: () => Promise<unknown>): void {
    const finishing = work();
    this.finishing.push(finishing);
    // It may fail before anybody looks.
    finishing.catch(() => {});
  }

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
    const askedAt = performance.now();
    const last = await this.get<{ message_id: number | null; event_id: number | null }>(
      `WITH held AS MATERIALIZED (SELECT pg_advisory_xact_lock(${eventLock}))
       SELECT CASE WHEN $1 > 0 THEN setval('message_ids', nextval('message_ids') + $1 - 1) END AS message_id,
              CASE WHEN $2 > 0 THEN setval('event_ids', nextval('event_ids') + $2 - 1) END AS event_id
       FROM held`,
      count.messages,
      count.events,
    );
    if (this.lockedAt === undefined) {
      this.lockedAt = performance.now();
      this.waitedMs = this.lockedAt - askedAt;
    }
    const events = idsUpTo(last?.event_id ?? 0, count.events) as EventId[];
    this.appending.took(events);
    return { messages: idsUpTo(last?.message_id ?? 0, count.messages) as MessageId[], events };
  }
}

class PostgresEngine extends Session implements Engine {
  /** While one waits for the server, the other is put together or its answers are sent. */
  readonly writers = 2;
  committed: (batch: LogBatch) => void = () => {};
  locked: (waitedMs: number, heldMs: number) => void = () => {};
  readonly #connections: Connections;
  readonly #lookups = new GatheredLookups(this);

  constructor(connections: Connections) {
    super();
    this.#connections = connections;
  }

  override look<R extends object, N extends string>(lookup: Lookup<N>, by: By<N>): Promise<R | undefined> {
    return this.#lookups.look(lookup, by);
  }

  protected ask(sql: string, params: Parameter[]): Promise<unknown> {
    return this.#connections.ask((pool) => pool.unsafe(sql, params));
  }

  async write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      let tx: Transaction | undefined;
      const begin = (pool: SQL, asked: Asked) =>
        pool.begin(async (sql) => {
          tx = new Transaction(sql, asked);
          const result = await work(tx);
          // PostgreSQL takes a COMMIT after a failure for a ROLLBACK, and says nothing.
          await Promise.all(tx.finishing);
          return result;
        }) as Promise<T>;
      try {
        const result = await this.#connections.ask(begin).finally(() => this.#noteLock(tx));
        const batch = tx?.appending.batch;
        if (batch) this.committed(batch);
        return result;
      } catch (error) {
        const { errno } = (error ?? {}) as { errno?: unknown };
        if (attempt < attempts && typeof errno === 'string' && retryable.has(errno)) continue;
        throw asUnavailable(error);
      }
    }
  }

  #noteLock(tx: Transaction | undefined): void {
    if (tx?.lockedAt !== undefined) this.locked(tx.waitedMs, performance.now() - tx.lockedAt);
  }

  /** On disk before it answers: PostgreSQL can crash and come back while we live on, and remember what it has forgotten. */
  writeSoon<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.write(work);
  }

  async close(): Promise<void> {
    await this.#connections.close();
  }
}

export interface PostgresOptions {
  readonly url: string;
  /** Connections at most. */
  readonly connections: number;
  /** For changes to the schema, which take as long as they take. */
  readonly patient?: boolean;
}

/** How long a statement may take, and how long of that it may wait for a lock. */
const statementMs = 10_000;
const lockMs = 8_000;

/** The server itself has ended a statement by then, unless it, or the way to it, is gone. */
const silentMs = statementMs + 2_000;

/** A process that stands still in the midst of a transaction, or is gone without a word, holds its locks for so long. */
const idleMs = 5_000;

export function openPostgres({ url, connections, patient = false }: PostgresOptions): Engine {
  const open = () =>
    new SQL(url, {
      max: connections,
      bigint: true,
      connectionTimeout: 5,
      connection: {
        application_name: 'parley',
        statement_timeout: patient ? 0 : statementMs,
        lock_timeout: patient ? 0 : lockMs,
        idle_in_transaction_session_timeout: idleMs,
        // In seconds: a machine that is gone without a word does not keep its connections for hours.
        tcp_keepalives_idle: 30,
        tcp_keepalives_interval: 10,
        tcp_keepalives_count: 3,
        // Statements are planned once, some while the tables are still small, and for any values. Every one of ours has an index
        // to use, for what it joins with too: to read all of a table, or to keep it at hand for that, would be right only on paper.
        // None is so large that compiling it would pay.
        enable_seqscan: 'off',
        ...(!patient && { enable_hashjoin: 'off', enable_mergejoin: 'off', enable_material: 'off' }),
        jit: 'off',
        // What is new in the search index is gone through by every search: with the usual 4 MB one takes three times as long, and
        // writing takes no less.
        gin_pending_list_limit: '1MB',
      },
    });
  return new PostgresEngine(new Connections(open, patient ? Number.POSITIVE_INFINITY : silentMs));
}
