import { Loop } from '../lib/loop.ts';
import { FailureLog } from '../observe/failure-log.ts';
import type { Log } from '../observe/log.ts';
import type { Engine, LogBatch, LogEntry } from '../store/engine/engine.ts';
import { eventsAfter, logTip } from '../store/log/events.ts';

/** Events that are read from the database at a time. */
const maxStored = 500;

/** Characters of events that stay in memory: a tenth of a second of the highest load that was measured. */
const maxRecentChars = 1_000_000;

/** The size of an event, and of a batch, besides its text. */
const overheadChars = 100;

/** How long a missing batch is waited for before the database is read. It is nearly always on its way. */
const missingMs = 10;

interface EventLogDeps {
  readonly engine: Engine;
  readonly monotonic: () => number;
  /** How long a commit of another process may go unnoticed if the bus loses its message. */
  readonly sweepMs: number;
  readonly log: Log;
}

interface RecentBatch extends LogBatch {
  readonly addedAt: number;
}

/**
 * The event log, as its consumers read it: every event once and in order, each consumer from its own cursor and at its
 * own pace. Batches that were just committed, here or by a process on the same bus, are read from memory. Everything
 * else is read from the database, which alone decides what the log contains.
 */
export class EventLog {
  readonly #deps: EventLogDeps;
  readonly #listeners = new Set<() => void>();
  readonly #poll: Loop;
  /** In the order of their ids, without overlap. There may be gaps between them. */
  readonly #recent: RecentBatch[] = [];
  #recentChars = 0;
  #tip = 0;

  constructor(deps: EventLogDeps) {
    this.#deps = deps;
    this.#poll = new Loop({
      step: () => this.refresh().then(() => false),
      outcomes: new FailureLog(deps.log, 'event_log_poll_failed'),
      monotonic: deps.monotonic,
      sweepMs: deps.sweepMs,
    });
  }

  /** The newest event id that is known to be taken. The event itself may not exist. */
  get tip(): number {
    return this.#tip;
  }

  /** Adds a batch that this or another process has committed. */
  committed(batch: LogBatch): void {
    const at = this.#recent.findLastIndex(({ after }) => after < batch.after) + 1;
    // The copies of a batch that comes twice are the same.
    if (this.#recent[at]?.after !== batch.after) {
      this.#recent.splice(at, 0, { ...batch, addedAt: this.#deps.monotonic() });
      this.#recentChars += sizeOf(batch);
      if (this.#recentChars > maxRecentChars) this.#forgetOlderHalf();
    }
    this.#advance(batch.last);
  }

  /** Looks for commits of other processes soon. */
  poll(): void {
    this.#poll.wake();
  }

  /** Looks for commits of other processes. Returns the id of the newest event in the database. */
  async refresh(): Promise<number> {
    const tip = await logTip(this.#deps.engine);
    this.#advance(tip);
    return tip;
  }

  /** Calls the listener whenever there may be new events. Losing a call only delays: consumers also sweep. */
  subscribe(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Returns the next events after an id, at most `limit`. `last` equals `after` only at the tip. */
  async read(after: number, limit: number): Promise<LogBatch> {
    if (after >= this.#tip) return { after, last: after, events: [] };
    return this.#fromMemory(after, limit) ?? (await this.#awaitMissing(after, limit)) ?? this.#stored(after, limit);
  }

  async stop(): Promise<void> {
    await this.#poll.stop();
  }

  #advance(tip: number): void {
    if (tip <= this.#tip) return;
    this.#tip = tip;
    for (const listener of this.#listeners) listener();
  }

  /** Drops the older half of the batches at once: dropping them one by one copies the array each time. */
  #forgetOlderHalf(): void {
    const forgotten = this.#recent.splice(0, Math.ceil(this.#recent.length / 2));
    for (const batch of forgotten) this.#recentChars -= sizeOf(batch);
  }

  /** Undefined if the batch that follows `after` is not in memory. */
  #fromMemory(after: number, limit: number): LogBatch | undefined {
    const events: LogEntry[] = [];
    let last = after;
    let i = this.#recent.findLastIndex((batch) => batch.after <= after);
    for (let batch = this.#recent[i]; batch && batch.after <= last; batch = this.#recent[++i]) {
      for (const event of batch.events) {
        if (event.event_id <= last) continue;
        if (events.length === limit) return { after, last, events };
        events.push(event);
        last = event.event_id;
      }
      last = Math.max(last, batch.last);
    }
    return last > after ? { after, last, events } : undefined;
  }

  /** Messages of other processes may arrive out of order. Waits a moment for the batch that is missing before the next. */
  async #awaitMissing(after: number, limit: number): Promise<LogBatch | undefined> {
    const next = this.#recent[this.#recent.findLastIndex((batch) => batch.after <= after) + 1];
    const waitMs = next ? next.addedAt + missingMs - this.#deps.monotonic() : 0;
    if (waitMs <= 0) return undefined;
    await Bun.sleep(waitMs);
    return this.#fromMemory(after, limit);
  }

  async #stored(after: number, limit: number): Promise<LogBatch> {
    // Ids rise in the order of commits, so a read shows everything up to an id that was known before it.
    const known = this.#tip;
    const max = Math.min(limit, maxStored);
    const events = await eventsAfter(this.#deps.engine, after, max);
    const lastId = events.at(-1)?.event_id ?? 0;
    this.#advance(lastId);
    return { after, last: events.length === max ? lastId : Math.max(known, lastId), events };
  }
}

const sizeOf = ({ events }: LogBatch): number =>
  events.reduce((sum, { size }) => sum + size + overheadChars, overheadChars);
