import type { ChatId, EventId, EventName, MessageId } from '@parley/contract';
import { type EventRow, toEntry } from '../log/entry.ts';

/** A parameter or a column. Booleans are stored as 0 and 1, times as milliseconds since 1970. */
export type Value = string | number | null;

/**
 * A database that runs SQL. Statements are written once, in the SQL that both engines share, with `$1`, `$2`, … for
 * parameters. `dialect` covers the few differences. Integers arrive as numbers on both.
 */
export interface Db {
  readonly dialect: Dialect;
  all<R extends object>(sql: string, params?: readonly Value[]): Promise<R[]>;
  get<R extends object>(sql: string, params?: readonly Value[]): Promise<R | undefined>;
  /** Returns the number of rows that the statement changed. */
  run(sql: string, params?: readonly Value[]): Promise<number>;
  /** True if concurrent calls of a `pointQuery` share one statement, because a round trip costs more than the search. */
  readonly sharesStatements: boolean;
  /**
   * Runs statements over many rows and returns the rows of the last one. The effect for one row must not depend on the
   * others: PostgreSQL gets all rows at once, SQLite in chunks. Chunks of parameters are three times as fast there as one
   * JSON array.
   */
  bulk<R extends object>(
    work: BulkStatement,
    rows: readonly (readonly Value[])[],
    params?: readonly Value[],
  ): Promise<R[]>;
}

/** Something that queries run on: a transaction or a snapshot. */
export interface Queryable extends Pick<Db, 'all'> {
  readonly dialect: Pick<Dialect, 'name'>;
}

export type Columns = Readonly<Record<string, ColumnType>>;

/** Returns the SQL of a statement over the rows that the table expression `source` stands for. */
type BulkText = (source: string, dialect: Dialect) => string;

/** Statements over rows of these columns. Create it once per process: engines cache the SQL text by object. */
export interface BulkStatement {
  readonly columns: Columns;
  readonly statements: readonly BulkText[];
}

export const bulkStatement = (columns: Columns, ...statements: readonly BulkText[]): BulkStatement => ({
  columns,
  statements,
});

export interface IdCount {
  readonly messages: number;
  readonly events: number;
}

/**
 * A transaction. Locks are held until it ends. They are always taken in this order, so that transactions never deadlock:
 * keys, then chats, then the event lock.
 */
export interface Tx extends Db {
  /** Waits until no other transaction holds any of these keys. */
  lockKeys(keys: readonly string[]): Promise<void>;
  /** Returns false at once if another transaction holds the key. */
  tryLock(key: string): Promise<boolean>;
  /** Waits until no other transaction is changing this chat. */
  lockChat(chatId: number): Promise<void>;
  /**
   * Takes the event lock and new ids. No other transaction gets ids until the commit, so ids rise in the order in which
   * commits become visible. A reader never passes an id that appears later.
   */
  takeIds(count: IdCount): Promise<{ messages: MessageId[]; events: EventId[] }>;
  /** Records the events that were inserted under the ids that were taken. `committed` passes them on after the commit. */
  appended(events: readonly EventRow[]): void;
}

/**
 * A transaction that runs where its connection is: on SQLite in the writer thread, so that its input crosses to that thread
 * once, as JSON, and its outcomes once back. It awaits nothing but `tx`. `now` is read after the ids are taken, so that times
 * rise with ids.
 */
export interface Procedure<I, O> {
  /** Its name in `procedures`. */
  readonly name: string;
  /** True if it commits like `writeRelaxed`. */
  readonly isRelaxed?: true;
  readonly run: (tx: Tx, input: I, now: () => number) => Promise<O[]>;
  /** How its outcomes cross on SQLite: each as one line of text. */
  readonly lines: Lines<O>;
}

export interface Lines<O> {
  /** Returns a text without line breaks. */
  write(outcome: O): string;
  read(line: string): O;
}

/** An event as it is stored in the log. */
export interface LogEntry {
  readonly event_id: EventId;
  /** An event without a chat is for one user, and has that user's negative id here. */
  readonly chat_id: ChatId;
  readonly event: EventName;
  readonly created_at: number;
  readonly body: string;
  /** The characters that it keeps in memory, about. */
  readonly size: number;
}

/** Consecutive events of the log: all that have an id above `after` and up to `last`. */
export interface LogBatch {
  readonly after: number;
  readonly last: number;
  readonly events: readonly LogEntry[];
}

/** A batch as it was inserted. */
export interface AppendedRows extends Omit<LogBatch, 'events'> {
  readonly events: readonly EventRow[];
}

export const toBatch = ({ after, last, events }: AppendedRows): LogBatch => ({
  after,
  last,
  events: events.map(toEntry),
});

export interface Engine extends Db {
  /** Number of concurrent transactions that pay off for batched work. */
  readonly writers: number;
  /**
   * Runs `work` in one transaction and resolves with its result once that is on disk. A throw rolls back, and so does a
   * failed statement, even one that `work` did not wait for. `work` may run several times if the database asks for a
   * retry, so it must do nothing but use `tx`.
   */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Like `write`, but SQLite resolves before the data is on disk: a power failure may undo the transaction. For work that
   * is simply done again after a restart.
   */
  writeRelaxed<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Runs a procedure like `write`, or like `writeRelaxed` if it says so. */
  call<I, O>(procedure: Procedure<I, O>, input: I, now: () => number): Promise<O[]>;
  /** Called after every commit of this process that took ids of events. Commits of other processes are not reported. */
  committed: (batch: LogBatch) => void;
  /** Called after every transaction that took the event lock. */
  locked: (waitedMs: number, heldMs: number) => void;
  close(): Promise<void>;
}

export type ColumnType = 'int' | 'text';

/** The differences between the engines' SQL. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** The database's own clock, in milliseconds since 1970. */
  readonly now: string;
  /** The last event id that was taken. Its transaction may have rolled back. */
  readonly lastEventId: string;
  /** The same of messages. */
  readonly lastMessageId: string;
  /** The bytes of the database. */
  readonly databaseBytes: string;
  /** Ends a SELECT that locks the rows it finds in table `d`, in its order. */
  readonly lockRows: string;
  /** A table expression over a parameter that holds a JSON array of objects. */
  rows(param: string, columns: Columns, alias: string): string;
  /**
   * A condition on the two columns of an index: the first equals `value`, the second is greater than `after`. The query
   * must order by both columns and have a limit. Put an upper bound on the second column outside of that limit, because
   * PostgreSQL would search on past the bound.
   */
  onwards(columns: readonly [string, string], value: string, after: string): string;
  /** Like `onwards` for at most `upTo`, in descending order. */
  backwards(columns: readonly [string, string], value: string, upTo: string): string;
  /**
   * A condition that the first column of an index equals `value`, for queries that order by both columns. Bounds on the
   * second column end the search.
   */
  isOne(column: string, value: string): string;
  /**
   * Follows a table and its alias: reads it by this index. SQLite has no statistics, and may choose another index with as many
   * columns. PostgreSQL chooses by itself.
   */
  indexedBy(index: string): string;
  /**
   * Joins each row of `outer` with the first `limit` ids that `inner` selects for it. `inner` is an ordered SELECT of one
   * column and may use columns of `outer`. The ids appear as `alias.id`. `key` is the primary key that they belong to.
   */
  firstIdsPerRow(outer: string, inner: string, limit: string, alias: string, key: `${string}.${string}`): string;
}

/** Calls `make` once for each engine and caches its result. */
export function perDialect<T>(make: (dialect: Dialect) => T): (db: Pick<Db, 'dialect'>) => T {
  const made = new Map<Dialect['name'], T>();
  return ({ dialect }) => {
    const known = made.get(dialect.name);
    if (known !== undefined) return known;
    const fresh = make(dialect);
    made.set(dialect.name, fresh);
    return fresh;
  };
}

/** Collects what one transaction appends to the log. Ids are taken under the event lock, so they are consecutive. */
export class Appending {
  #after: number | undefined;
  #last = 0;
  readonly #events: EventRow[] = [];

  took(ids: readonly number[]): void {
    const [first] = ids;
    if (first === undefined) return;
    this.#after ??= first - 1;
    this.#last = first - 1 + ids.length;
  }

  add(events: readonly EventRow[]): void {
    for (const event of events) this.#events.push(event);
  }

  /** Undefined if the transaction took no event ids. */
  get rows(): AppendedRows | undefined {
    if (this.#after === undefined) return undefined;
    return { after: this.#after, last: this.#last, events: this.#events };
  }
}

/** Returns the ids that end with `last`, and notes them. */
export function takenIds(count: IdCount, last: IdCount, appending: Appending) {
  const events = idsUpTo(last.events, count.events) as EventId[];
  appending.took(events);
  return { messages: idsUpTo(last.messages, count.messages) as MessageId[], events };
}

/** Returns the `count` ids that end with `last`. */
const idsUpTo = (last: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => last - count + 1 + i);
