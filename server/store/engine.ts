import type { ChatId, EventId, EventName, MessageId } from '@parley/contract';

/** What a parameter or a column holds. Truth values are 0 and 1, times are milliseconds since 1970. */
export type Value = string | number | null;

/**
 * A database that answers SQL. Statements are written once, with `$1`, `$2`, … for parameters, in what both engines
 * speak; the few places where they differ go through `dialect`. Integers arrive as numbers on both.
 */
export interface Db {
  readonly dialect: Dialect;
  all<R extends object>(sql: string, ...params: Value[]): Promise<R[]>;
  get<R extends object>(sql: string, ...params: Value[]): Promise<R | undefined>;
  /** Runs a statement for its effect and answers how many rows it changed. */
  run(sql: string, ...params: Value[]): Promise<number>;
  /** The row that is found by these numbers. Where asking costs more than looking, what is asked for together is looked for together. */
  look<R extends object, N extends string>(lookup: Lookup<N>, by: By<N>): Promise<R | undefined>;
  /**
   * Runs statements over many rows at once and answers what the last one gives. What a statement does for one row must
   * not depend on the others: SQLite is given them in chunks, which is three times as fast as having it take a JSON array
   * apart, PostgreSQL all in one.
   */
  each<R extends object>(work: RowWork, rows: readonly (readonly Value[])[], ...params: Value[]): Promise<R[]>;
}

/** A query for one row at most, by numbers of these names; it is told where they stand. Made once. */
export interface Lookup<N extends string> {
  readonly numbers: readonly N[];
  readonly text: (dialect: Dialect, at: Readonly<Record<N, string>>) => string;
}

export type By<N extends string> = Readonly<Record<N, number>>;

/** Statements over rows of these columns, which they see as the table expression that they are given. Made once. */
export interface RowWork {
  readonly columns: Readonly<Record<string, ColumnType>>;
  readonly statements: readonly ((source: string) => string)[];
}

/**
 * A transaction. Locks are held until it ends and are always taken in this order: keys, then chats, then the event lock;
 * so transactions never wait for each other in a circle.
 */
export interface Tx extends Db {
  /** Waits until no other transaction holds any of these names. */
  lockKeys(keys: readonly string[]): Promise<void>;
  /** Like `lockKeys` for a single name, but answers false at once where another holds it. */
  tryLock(key: string): Promise<boolean>;
  /** Waits until no other transaction is changing this chat. */
  lockChat(chatId: number): Promise<void>;
  /**
   * Takes the event lock and new ids. From here until the commit no other transaction gets ids, so ids rise in the
   * order in which commits become visible: a reader never passes an id that appears later.
   */
  takeIds(count: { messages: number; events: number }): Promise<{ messages: MessageId[]; events: EventId[] }>;
  /**
   * Starts the last work of a transaction, which is not waited for before the commit is asked for: SQLite's writer carries
   * both out in one go. Where it fails, so does the transaction.
   */
  finish(work: () => Promise<unknown>): void;
  /** Records the events that were inserted under the ids taken. `Engine.committed` gets them after the commit. */
  appended(events: readonly LogEntry[]): void;
}

/** An event as it is stored in the log. */
export interface LogEntry {
  readonly event_id: EventId;
  /** An event without a chat is for one user, and has that user's negative id here. */
  readonly chat_id: ChatId;
  readonly event: EventName;
  readonly created_at: number;
  readonly body: string;
}

/** Consecutive events of the log: all that have an id above `after` and up to `last`. */
export interface LogBatch {
  readonly after: number;
  readonly last: number;
  readonly events: readonly LogEntry[];
}

export interface Engine extends Db {
  /** Transactions worth having under way at once for work that comes in batches. */
  readonly writers: number;
  /**
   * Runs `work` in one transaction and answers what it gives once that is on disk. It may run more than once where the
   * database asks for a retry, so it must do nothing but talk to `tx`. A throw rolls back.
   */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * The same, but may answer before it is on disk where a power failure that undoes it ends this process as well, and whatever
   * it remembers. For what is simply done again then.
   */
  writeSoon<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Called after every commit of this process that took event ids, but not for commits of other processes. */
  committed: (batch: LogBatch) => void;
  /** Called after every transaction that had the event lock, with how long it waited for that and how long it held it. */
  locked: (waitedMs: number, heldMs: number) => void;
  close(): Promise<void>;
}

export type ColumnType = 'int' | 'text';

/** Where the engines' SQL differs. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** The database's own clock, in milliseconds since 1970. */
  readonly now: string;
  /** The last id that was taken for an event, whether or not it became one. */
  readonly lastEventId: string;
  /** Locks the rows of the table `d` that a SELECT finds, in its order. */
  readonly lockRows: string;
  /** A table expression over a parameter that holds a JSON array of objects, as `JSON.stringify` gives it. */
  rows(param: string, columns: Readonly<Record<string, ColumnType>>, alias: string): string;
  /**
   * Whether a row has this value in the first of two columns that an index is by, and more than `after` in the second; to be
   * ordered by both, and limited. A further bound on the second belongs outside of the limit: PostgreSQL would search on behind it.
   */
  onwards(columns: readonly [string, string], value: string, after: string): string;
  /** The same for no more than `upTo`, from there down. */
  backwards(columns: readonly [string, string], value: string, upTo: string): string;
  /**
   * Whether the first column that an index is by has this value, where rows are to be ordered by it and the second, and bounds of
   * the second are to end the search.
   */
  isOne(column: string, value: string): string;
  /**
   * A join of each row of `outer` with the first `limit` ids that `inner` selects for it (an ordered SELECT of one
   * column that may name columns of `outer`); they are seen as `alias.id`.
   */
  firstIdsPerRow(outer: string, inner: string, limit: string, alias: string): string;
}

/** What differs between the engines, made once for each. */
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
  readonly #events: LogEntry[] = [];

  took(ids: readonly number[]): void {
    const [first] = ids;
    if (first === undefined) return;
    this.#after ??= first - 1;
    this.#last = first - 1 + ids.length;
  }

  add(events: readonly LogEntry[]): void {
    for (const event of events) this.#events.push(event);
  }

  /** Undefined if the transaction took no event ids. */
  get batch(): LogBatch | undefined {
    if (this.#after === undefined) return undefined;
    return { after: this.#after, last: this.#last, events: this.#events };
  }
}

/** The `count` ids that end with `last`. */
export const idsUpTo = (last: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => last - count + 1 + i);
