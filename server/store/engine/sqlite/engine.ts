import { processMonotonic } from '../../../lib/clock.ts';
import { withTimeout } from '../../../lib/timeout.ts';
import type { EventRow } from '../../log/entry.ts';
import {
  type AppendedRows,
  Appending,
  type BulkStatement,
  type Engine,
  type IdCount,
  type LogBatch,
  type Procedure,
  type Tx,
  takenIds,
  toBatch,
  type Value,
} from '../engine.ts';
import { unavailable } from '../failure.ts';
import { bulkTexts } from './connection.ts';
import { sqliteDialect } from './dialect.ts';
import { type Call, fromLines } from './protocol.ts';
import { Reader } from './reader.ts';
import { type Waiter, WriterThread } from './writer-thread.ts';

const timedOut = () => unavailable(new Error('the disk, or another process that writes, takes too long'));

/** Sends the calls of one transaction to the writer. Calls made in one microtask turn go together. */
class Transaction implements Tx {
  readonly dialect = sqliteDialect;
  readonly sharesStatements = false;
  readonly appending = new Appending();
  readonly #thread: WriterThread;
  readonly #id: number;
  #calls: Call[] = [];
  #waiting: Waiter[] = [];
  #isScheduled = false;

  constructor(thread: WriterThread, id: number) {
    this.#thread = thread;
    this.#id = id;
  }

  call<T>(call: Call): Promise<T> {
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      queueMicrotask(() => this.#send());
    }
    this.#calls.push(call);
    return new Promise<unknown>((resolve, reject) => this.#waiting.push({ resolve, reject })) as Promise<T>;
  }

  #send(): void {
    this.#thread.send({ transaction: this.#id, calls: this.#calls }, this.#waiting);
    this.#isScheduled = false;
    this.#calls = [];
    this.#waiting = [];
  }

  all<R extends object>(sql: string, params: readonly Value[] = []): Promise<R[]> {
    return this.call(['all', sql, params]);
  }

  get<R extends object>(sql: string, params: readonly Value[] = []): Promise<R | undefined> {
    return this.call(['get', sql, params]);
  }

  run(sql: string, params: readonly Value[] = []): Promise<number> {
    return this.call(['run', sql, params]);
  }

  bulk<R extends object>(
    work: BulkStatement,
    rows: readonly (readonly Value[])[],
    params: readonly Value[] = [],
  ): Promise<R[]> {
    return this.call(['bulk', bulkTexts(work), rows, params]);
  }

  async lockKeys(): Promise<void> {}
  async lockChat(): Promise<void> {}
  async tryLock(): Promise<boolean> {
    return true;
  }

  async takeIds(count: IdCount) {
    return takenIds(count, await this.call<IdCount>(['takeIds', count]), this.appending);
  }

  appended(events: readonly EventRow[]): void {
    this.appending.add(events);
  }
}

/** Reads on this thread and writes on another. A read sees everything that was committed before it. */
class SqliteEngine implements Engine {
  /** A second writer would only make batches smaller: the next batch fills while this one is written. */
  readonly writers = 1;
  readonly dialect = sqliteDialect;
  readonly sharesStatements = false;
  readonly #writer: WriterThread;
  readonly #reader: Reader;
  committed: (batch: LogBatch) => void = () => {};
  locked: (waitedMs: number, heldMs: number) => void = () => {};
  #transactions = 0;
  /** Resolves when the next transaction may start: the COMMIT of the previous one has then been sent. */
  #turn: Promise<void> = Promise.resolve();
  readonly #running = new Set<Promise<unknown>>();
  readonly #timeoutMs: number;
  readonly #monotonic: () => number;

  constructor(writer: WriterThread, reader: Reader, timeoutMs: number, monotonic: () => number) {
    this.#writer = writer;
    this.#reader = reader;
    this.#timeoutMs = timeoutMs;
    this.#monotonic = monotonic;
  }

  all<R extends object>(sql: string, params: readonly Value[] = []): Promise<R[]> {
    return this.#reader.read((connection) => connection.all<R>(sql, params));
  }

  get<R extends object>(sql: string, params: readonly Value[] = []): Promise<R | undefined> {
    return this.#reader.read((connection) => connection.get<R>(sql, params));
  }

  run(sql: string, params: readonly Value[] = []): Promise<number> {
    return this.write((tx) => tx.run(sql, params));
  }

  bulk<R extends object>(
    work: BulkStatement,
    rows: readonly (readonly Value[])[],
    params: readonly Value[] = [],
  ): Promise<R[]> {
    return this.write((tx) => tx.bulk<R>(work, rows, params));
  }

  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#inTurn((askedAt, ending) => this.#transaction(work, true, askedAt, ending));
  }

  writeRelaxed<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#inTurn((askedAt, ending) => this.#transaction(work, false, askedAt, ending));
  }

  call<I, O>({ name, lines }: Procedure<I, O>, input: I, now: () => number): Promise<O[]> {
    return this.#inTurn(async (askedAt, ending) => {
      const startedAt = this.#monotonic();
      const called = this.#writer.ask({ procedure: name, input, at: now() });
      ending();
      const { rows, outcomes } = fromLines((await called) as string);
      this.#committed(rows);
      this.locked(startedAt - askedAt, this.#monotonic() - startedAt);
      return outcomes.map((line) => lines.read(line));
    });
  }

  /**
   * Runs transactions one after the other. A transaction fails with `unavailable` after `timeoutMs`. One that had not
   * started by then never runs. So calls do not pile up behind a stalled disk.
   */
  #inTurn<T>(transaction: (askedAt: number, ending: () => void) => Promise<T>): Promise<T> {
    const askedAt = this.#monotonic();
    const turn = Promise.withResolvers<void>();
    const result = this.#turn.then(() => {
      if (this.#monotonic() - askedAt < this.#timeoutMs) return transaction(askedAt, turn.resolve);
      turn.resolve();
      throw timedOut();
    });
    this.#turn = turn.promise;
    this.#running.add(result);
    const ended = () => void this.#running.delete(result);
    result.then(ended, ended);
    return withTimeout(this.#timeoutMs, result, timedOut);
  }

  /** SQLite has one writer at a time, so its write lock serves as the event lock. */
  async #transaction<T>(
    work: (tx: Tx) => Promise<T>,
    durable: boolean,
    askedAt: number,
    ending: () => void,
  ): Promise<T> {
    const tx = new Transaction(this.#writer, ++this.#transactions);
    let lockedAt = askedAt;
    try {
      const begun = tx.call(['begin', durable]).then(() => {
        lockedAt = this.#monotonic();
      });
      const [result] = await Promise.all([work(tx), begun]);
      const committed = tx.call(['commit']);
      queueMicrotask(ending);
      await committed;
      this.#committed(tx.appending.rows);
      return result;
    } catch (error) {
      await tx.call(['rollback']).catch(() => {});
      throw error;
    } finally {
      ending();
      if (tx.appending.rows) this.locked(lockedAt - askedAt, this.#monotonic() - lockedAt);
    }
  }

  #committed(rows: AppendedRows | undefined): void {
    this.#reader.refresh();
    if (rows) this.committed(toBatch(rows));
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#running);
    this.#reader.close();
    await this.#writer.close();
  }
}

/** Limit for a transaction, queueing included. It is longer than SQLite waits for another process. */
const defaultTimeoutMs = 12_000;

export interface SqliteOptions {
  /** Infinity for migrations and restores, which have no limit. */
  readonly timeoutMs?: number;
  readonly monotonic?: () => number;
}

export async function openSqlite(
  file: string,
  { timeoutMs = defaultTimeoutMs, monotonic = processMonotonic }: SqliteOptions = {},
): Promise<Engine> {
  const writer = await WriterThread.open(file);
  try {
    return new SqliteEngine(writer, new Reader(file, monotonic), timeoutMs, monotonic);
  } catch (error) {
    await writer.close();
    throw error;
  }
}
