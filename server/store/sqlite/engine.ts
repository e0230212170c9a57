import type { EventId, MessageId } from '@parley/contract';
import { withTimeout } from '../../lib/timeout.ts';
import {
  Appending,
  type By,
  type Engine,
  idsUpTo,
  type LogBatch,
  type LogEntry,
  type Lookup,
  type RowWork,
  type Tx,
  type Value,
} from '../engine.ts';
import { unavailable } from '../failure.ts';
import { lookupTexts, numbersOf } from '../lookup.ts';
import { type RowTexts, rowTexts } from './connection.ts';
import { sqliteDialect } from './dialect.ts';
import { Reader } from './reader.ts';
import type { IdCount } from './writer.ts';
import { Conversation, WriterThread } from './writer-thread.ts';

const standsStill = () => unavailable(new Error('the disk, or another process that writes, takes too long'));

const textsOf = new Map<RowWork, RowTexts>();
const textOf = lookupTexts(sqliteDialect);

class Transaction implements Tx {
  readonly dialect = sqliteDialect;
  readonly appending = new Appending();
  readonly finishing: Promise<unknown>[] = [];
  readonly #writer: Conversation;

  constructor(writer: Conversation) {
    this.#writer = writer;
  }

  all<R extends object>(sql: string, ...params: Value[]): Promise<R[]> {
    return this.#writer.ask(['all', sql, params]) as Promise<R[]>;
  }

  get<R extends object>(sql: string, ...params: Value[]): Promise<R | undefined> {
    return this.#writer.ask(['get', sql, params]) as Promise<R | undefined>;
  }

  look<R extends object, N extends string>(lookup: Lookup<N>, by: By<N>): Promise<R | undefined> {
    return this.get(textOf(lookup), ...numbersOf(lookup, by));
  }

  run(sql: string, ...params: Value[]): Promise<number> {
    return this.#writer.ask(['run', sql, params]) as Promise<number>;
  }

  each<R extends object>(work: RowWork, rows: readonly (readonly Value[])[], ...params: Value[]): Promise<R[]> {
    let texts = textsOf.get(work);
    if (!texts) {
      texts = rowTexts(work);
      textsOf.set(work, texts);
    }
    return this.#writer.ask(['each', texts, rows, params]) as Promise<R[]>;
  }

  async lockKeys(): Promise<void> {}
  async lockChat(): Promise<void> {}
  async tryLock(): Promise<boolean> {
    return true;
  }

  async takeIds(count: IdCount) {
    const last = (await this.#writer.ask(['takeIds', count])) as IdCount;
    const events = idsUpTo(last.events, count.events) as EventId[];
    this.appending.took(events);
    return { messages: idsUpTo(last.messages, count.messages) as MessageId[], events };
  }

  finish(work: () => Promise<unknown>): void {
    const finishing = this.#writer.holdBack(work);
    this.finishing.push(finishing);
    // It may fail before anybody looks.
    finishing.catch(() => {});
  }

  appended(events: readonly LogEntry[]): void {
    this.appending.add(events);
  }
}

/** Reads here, and writes on a thread of its own; what was committed is seen by every read after that. */
class SqliteEngine implements Engine {
  /** Further batches would only be smaller: the next one is gathered while this one is written. */
  readonly writers = 1;
  readonly dialect = sqliteDialect;
  readonly #writer: WriterThread;
  readonly #reader: Reader;
  committed: (batch: LogBatch) => void = () => {};
  locked: (waitedMs: number, heldMs: number) => void = () => {};
  #transactions = 0;
  /** Once it is over, the next transaction may begin; the last one's commit is then at least on its way. */
  #turn: Promise<void> = Promise.resolve();
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #patienceMs: number;

  constructor(writer: WriterThread, reader: Reader, patienceMs: number) {
    this.#writer = writer;
    this.#reader = reader;
    this.#patienceMs = patienceMs;
  }

  all<R extends object>(sql: string, ...params: Value[]): Promise<R[]> {
    return this.#reader.all(sql, params);
  }

  get<R extends object>(sql: string, ...params: Value[]): Promise<R | undefined> {
    return this.#reader.get(sql, params);
  }

  look<R extends object, N extends string>(lookup: Lookup<N>, by: By<N>): Promise<R | undefined> {
    return this.#reader.get(textOf(lookup), numbersOf(lookup, by));
  }

  run(sql: string, ...params: Value[]): Promise<number> {
    return this.write((tx) => tx.run(sql, ...params));
  }

  each<R extends object>(work: RowWork, rows: readonly (readonly Value[])[], ...params: Value[]): Promise<R[]> {
    return this.write((tx) => tx.each<R>(work, rows, ...params));
  }

  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#inTurn(work, true);
  }

  writeSoon<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#inTurn(work, false);
  }

  /**
   * One after the other. A disk that stands still is not waited for without end, nor does all that comes meanwhile pile up: it is
   * refused after a while, and what had not begun by then is left undone.
   */
  #inTurn<T>(work: (tx: Tx) => Promise<T>, durable: boolean): Promise<T> {
    const askedAt = performance.now();
    const turn = Promise.withResolvers<void>();
    const result = this.#turn.then(() => {
      if (performance.now() - askedAt < this.#patienceMs)
        return this.#transaction(work, durable, askedAt, turn.resolve);
      turn.resolve();
      throw standsStill();
    });
    this.#turn = turn.promise;
    this.#underWay.add(result);
    const over = () => void this.#underWay.delete(result);
    result.then(over, over);
    return withTimeout(this.#patienceMs, result, standsStill);
  }

  /** The lock of the one writer stands in for the event lock. */
  async #transaction<T>(
    work: (tx: Tx) => Promise<T>,
    durable: boolean,
    askedAt: number,
    ending: () => void,
  ): Promise<T> {
    const conversation = new Conversation(this.#writer, ++this.#transactions);
    const tx = new Transaction(conversation);
    let lockedAt = askedAt;
    try {
      const begun = conversation.ask(['begin', durable]).then(() => {
        lockedAt = performance.now();
      });
      const [result] = await Promise.all([work(tx), begun]);
      const committed = conversation.ask(['commit']);
      queueMicrotask(ending);
      await Promise.all([...tx.finishing, committed]);
      this.#reader.refresh();
      if (tx.appending.batch) this.committed(tx.appending.batch);
      return result;
    } catch (error) {
      await conversation.ask(['rollback']).catch(() => {});
      throw error;
    } finally {
      ending();
      if (tx.appending.batch) this.locked(lockedAt - askedAt, performance.now() - lockedAt);
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#underWay);
    this.#reader.close();
    await this.#writer.close();
  }
}

/** How long a change may take, with what it waits for: longer than SQLite waits for another process. */
const usualPatienceMs = 12_000;

/** Changes to the schema, and what fills a new one, take as long as they take: they are waited for without end. */
export async function openSqlite(file: string, patienceMs = usualPatienceMs): Promise<Engine> {
  const writer = await WriterThread.open(file);
  try {
    return new SqliteEngine(writer, new Reader(file), patienceMs);
  } catch (error) {
    await writer.close();
    throw error;
  }
}
