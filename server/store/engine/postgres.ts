import { type ReservedSQL, SQL } from 'bun';
import { processMonotonic } from '../../lib/clock.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import type { EventRow } from '../log/entry.ts';
import { Connections, type PendingCall } from './connections.ts';
import {
  Appending,
  type BulkStatement,
  type Db,
  type Dialect,
  type Engine,
  type IdCount,
  type LogBatch,
  type Procedure,
  type Tx,
  takenIds,
  toBatch,
  type Value,
} from './engine.ts';
import { asUnavailable } from './failure.ts';

const columnTypes = { int: 'bigint', text: 'text' } as const;

const postgresDialect: Dialect = {
  name: 'postgres',
  now: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)',
  lastEventId: '(SELECT last_value FROM event_ids)',
  lastMessageId: '(SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM message_ids)',
  databaseBytes: 'pg_database_size(current_database())',
  lockRows: 'FOR UPDATE OF d',
  // With an equality PostgreSQL would rather scan the whole table by another index that has the order, and filter: the
  // rows of a quiet chat may be a million messages away. A comparison of pairs tells it where to begin but not where to
  // end, so a condition on the first column ends the scan.
  onwards: ([first, second], value, after) =>
    `(${first}, ${second}) > (${value}, CAST(${after} AS bigint)) AND ${first} <= ${value}`,
  backwards: ([first, second], value, upTo) =>
    `(${first}, ${second}) <= (${value}, CAST(${upTo} AS bigint)) AND ${first} >= ${value}`,
  // ANY hides from PostgreSQL that there is one value, so that it keeps the column in the sort order.
  isOne: (column, value) => `${column} = ANY (ARRAY[${value}])`,
  indexedBy: () => '',
  rows: (param, columns, alias) => {
    const list = Object.entries(columns).map(([name, type]) => `${name} ${columnTypes[type]}`);
    return `json_to_recordset(CAST(CAST(${param} AS text) AS json)) AS ${alias}(${list.join(', ')})`;
  },
  firstIdsPerRow: (outer, inner, limit, alias) =>
    `${outer} CROSS JOIN LATERAL (SELECT id FROM (${inner} LIMIT ${limit}) AS first (id)) AS ${alias}`,
};

/** SQLSTATEs of a serialization failure and a deadlock. The same transaction succeeds when it is run again. */
const retryable = new Set(['40001', '40P01']);
const maxAttempts = 5;

/** Advisory lock numbers. The lowest two bits tell the kinds apart. */
const eventLock = 0n;
const keyLock = (key: string) => (BigInt.asIntN(62, BigInt(Bun.hash(key))) << 2n) | 1n;
const chatLock = (chatId: number) => (BigInt(chatId) << 2n) | 2n;

type Parameter = string | bigint | null;

const texts = new Map<BulkStatement, string>();

/** All statements as one, so that the rows are sent and parsed once. Their parameters follow the first `taken`. */
function textOf(work: BulkStatement, taken: number): string {
  const known = texts.get(work);
  if (known !== undefined) return known;
  const arrays = Object.values(work.columns).map((type, c) => {
    // A separator follows every value, to tell a single empty text from no text.
    const array = `trim_array(string_to_array($${taken + 3 + c}, $${taken + 1}, $${taken + 2}), 1)`;
    return type === 'int' ? `CAST(${array} AS bigint[])` : array;
  });
  const names = Object.keys(work.columns).join(', ');
  const parts = work.statements.map((statement) => statement('(SELECT * FROM given)', postgresDialect));
  const steps = parts.slice(0, -1).map((part, i) => `, step${i} AS (${part})`);
  const given = `SELECT * FROM unnest(${arrays.join(', ')}) AS taken(${names})`;
  const text = `WITH given AS MATERIALIZED (${given})${steps.join('')} ${parts.at(-1)}`;
  texts.set(work, text);
  return text;
}

/** Returns two characters that occur in no text of these rows. The first control characters tried are nearly always free. */
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
  readonly sharesStatements: boolean = false;

  async all<R extends object>(sql: string, params: readonly Value[] = []): Promise<R[]> {
    const rows = (await this.query(sql, params)) as Record<string, unknown>[];
    for (const row of rows) {
      for (const column in row) {
        const value = row[column];
        if (typeof value === 'bigint') row[column] = Number(value);
      }
    }
    return rows as R[];
  }

  async get<R extends object>(sql: string, params: readonly Value[] = []): Promise<R | undefined> {
    const [row] = await this.all<R>(sql, params);
    return row;
  }

  async run(sql: string, params: readonly Value[] = []): Promise<number> {
    const result = (await this.query(sql, params)) as { count: number };
    return result.count;
  }

  /**
   * Sends each column as one text, its values joined by a character that occurs in none of them. As JSON the rows took
   * 1.5 times as long to insert and twice as long to encode, because our texts are JSON and all their quotes were escaped.
   */
  bulk<R extends object>(
    work: BulkStatement,
    rows: readonly (readonly Value[])[],
    params: readonly Value[] = [],
  ): Promise<R[]> {
    if (rows.length === 0) return Promise.resolve([]);
    const [separator, absent] = unusedCharacters(rows);
    const columns = Object.keys(work.columns).map(
      (_, c) => rows.map((row) => row[c] ?? absent).join(separator) + separator,
    );
    return this.all(textOf(work, params.length), [...params, separator, absent, ...columns]);
  }

  /** Sends all numbers as bigint. Otherwise Bun prepares a statement for each width of number. */
  protected async query(sql: string, params: readonly (Value | bigint)[]): Promise<unknown> {
    try {
      return await this.send(
        sql,
        params.map((p) => (typeof p === 'number' ? BigInt(p) : p)),
      );
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  protected abstract send(sql: string, params: Parameter[]): Promise<unknown>;
}

/** Bun waits for the response to a text without parameters, and so does what follows, unless it is a tagged template. */
const commands: Readonly<Record<string, (connection: ReservedSQL) => Promise<unknown>>> = {
  BEGIN: (connection) => connection`BEGIN`,
  COMMIT: (connection) => connection`COMMIT`,
};

class Transaction extends Session implements Tx {
  readonly appending = new Appending();
  /** How long it waited for the event lock, and when it got it. */
  waitedMs = 0;
  lockedAt: number | undefined;
  readonly #connection: ReservedSQL;
  readonly #call: PendingCall;
  readonly #monotonic: () => number;
  /** Statements without a response, or with an error. */
  readonly #unsettled = new Set<Promise<unknown>>();

  constructor(connection: ReservedSQL, call: PendingCall, monotonic: () => number) {
    super();
    this.#connection = connection;
    this.#call = call;
    this.#monotonic = monotonic;
  }

  /**
   * Runs the work between BEGIN and COMMIT. Neither waits for a response: BEGIN goes out with the first statement, and COMMIT
   * with those that the work did not wait for. PostgreSQL rolls back at a COMMIT if a statement has failed.
   */
  async transact<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    void this.query('BEGIN', []).catch(() => {});
    let result: T;
    try {
      result = await work(this);
    } catch (error) {
      await this.query('ROLLBACK', []).catch(() => {});
      throw error;
    }
    void this.query('COMMIT', []).catch(() => {});
    await Promise.all(this.#unsettled);
    return result;
  }

  protected send(sql: string, params: Parameter[]): Promise<unknown> {
    const sent = this.#send(sql, params);
    this.#unsettled.add(sent);
    sent.then(
      () => this.#unsettled.delete(sent),
      () => {},
    );
    return sent;
  }

  async #send(sql: string, params: Parameter[]): Promise<unknown> {
    this.#call.lastActiveAt = this.#monotonic();
    const result = await (commands[sql]?.(this.#connection) ?? this.#connection.unsafe(sql, params));
    this.#call.lastActiveAt = this.#monotonic();
    return result;
  }

  appended(events: readonly EventRow[]): void {
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

  /** The CTE has its row, and so the lock, before PostgreSQL evaluates what is selected from it. */
  async takeIds(count: IdCount) {
    const askedAt = this.#monotonic();
    const last = await this.get<{ message_id: number | null; event_id: number | null }>(
      `WITH held AS MATERIALIZED (SELECT pg_advisory_xact_lock(${eventLock}))
       SELECT CASE WHEN $1 > 0 THEN setval('message_ids', nextval('message_ids') + $1 - 1) END AS message_id,
              CASE WHEN $2 > 0 THEN setval('event_ids', nextval('event_ids') + $2 - 1) END AS event_id
       FROM held`,
      [count.messages, count.events],
    );
    if (this.lockedAt === undefined) {
      this.lockedAt = this.#monotonic();
      this.waitedMs = this.lockedAt - askedAt;
    }
    return takenIds(count, { messages: last?.message_id ?? 0, events: last?.event_id ?? 0 }, this.appending);
  }
}

/** The share of connections for transactions. They may wait for locks, and single statements must not wait behind them. */
const transactionShare = 0.7;

class PostgresEngine extends Session implements Engine {
  override readonly sharesStatements = true;
  /** One batch is prepared while the other waits for the server. */
  readonly writers = 2;
  committed: (batch: LogBatch) => void = () => {};
  locked: (waitedMs: number, heldMs: number) => void = () => {};
  readonly #connections: Connections;
  readonly #transactions: Semaphore;
  readonly #monotonic: () => number;

  constructor(connections: Connections, maxConnections: number, monotonic: () => number) {
    super();
    this.#connections = connections;
    this.#transactions = new Semaphore(Math.ceil(maxConnections * transactionShare));
    this.#monotonic = monotonic;
  }

  protected send(sql: string, params: Parameter[]): Promise<unknown> {
    return this.#connections.use((pool) => pool.unsafe(sql, params));
  }

  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#transactions.run(() => this.#write(work));
  }

  async #write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      let tx: Transaction | undefined;
      const begin = async (pool: SQL, call: PendingCall): Promise<T> => {
        const connection = await pool.reserve();
        try {
          tx = new Transaction(connection, call, this.#monotonic);
          return await tx.transact(work);
        } finally {
          connection.release();
        }
      };
      try {
        const result = await this.#connections.use(begin).finally(() => this.#reportLock(tx));
        const rows = tx?.appending.rows;
        if (rows) this.committed(toBatch(rows));
        return result;
      } catch (error) {
        const { errno } = (error ?? {}) as { errno?: unknown };
        if (attempt < maxAttempts && typeof errno === 'string' && retryable.has(errno)) continue;
        throw asUnavailable(error);
      }
    }
  }

  #reportLock(tx: Transaction | undefined): void {
    if (tx?.lockedAt !== undefined) this.locked(tx.waitedMs, this.#monotonic() - tx.lockedAt);
  }

  /** Durable too: PostgreSQL can crash and restart while this process lives on and relies on the commit. */
  writeRelaxed<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.write(work);
  }

  call<I, O>(procedure: Procedure<I, O>, input: I, now: () => number): Promise<O[]> {
    return this.write((tx) => procedure.run(tx, input, now));
  }

  async close(): Promise<void> {
    await this.#connections.close();
  }
}

export interface PostgresOptions {
  readonly url: string;
  readonly maxConnections: number;
  /** False for migrations, backups and restores, which have no limit. */
  readonly hasTimeouts?: boolean;
  readonly monotonic?: () => number;
}

const statementTimeoutMs = 10_000;
const lockTimeoutMs = 8_000;

/** PostgreSQL itself ends a statement before this, unless the server or the network is gone. */
const silenceTimeoutMs = statementTimeoutMs + 2_000;

/** Limits how long a stalled or vanished process holds the locks of its open transaction. */
const idleTimeoutMs = 5_000;

export function openPostgres({
  url,
  maxConnections,
  hasTimeouts = true,
  monotonic = processMonotonic,
}: PostgresOptions): Engine {
  const open = () =>
    new SQL(url, {
      max: maxConnections,
      bigint: true,
      connectionTimeout: 5,
      connection: {
        application_name: 'parley',
        statement_timeout: hasTimeouts ? statementTimeoutMs : 0,
        lock_timeout: hasTimeouts ? lockTimeoutMs : 0,
        idle_in_transaction_session_timeout: idleTimeoutMs,
        // In seconds. Without these the connections of a machine that vanished stay open for hours.
        tcp_keepalives_idle: 30,
        tcp_keepalives_interval: 10,
        tcp_keepalives_count: 3,
        // PostgreSQL plans a statement once, for any values, perhaps while the tables are still small. All our statements
        // and joins have an index, so plans that read a whole table are wrong. JIT compilation never pays off.
        plan_cache_mode: 'force_generic_plan',
        enable_seqscan: 'off',
        ...(hasTimeouts && { enable_hashjoin: 'off', enable_mergejoin: 'off', enable_material: 'off' }),
        jit: 'off',
        // Every search scans the pending list of the search index. With the default of 4 MB a search takes three times as
        // long, and writing is no faster.
        gin_pending_list_limit: '1MB',
      },
    });
  const silenceMs = hasTimeouts ? silenceTimeoutMs : Number.POSITIVE_INFINITY;
  return new PostgresEngine(new Connections(open, silenceMs, monotonic), maxConnections, monotonic);
}
