import type { FailureLog } from '../observe/failure-log.ts';
import type { Committed, Engine, LogEntry } from '../store/engine.ts';
import { eventsAfter, logTip } from '../store/events.ts';

/** Events that are read from the log at a time. */
const mostRead = 500;

/** How long a stretch that is missing is waited for before the log is read: it is nearly always on its way. */
const patienceMs = 10;

/** Stretches that wait for one before them; beyond that the log is read. */
const mostWaiting = 1_000;

interface FeedParts {
  readonly engine: Engine;
  /** Tells an event to whoever is concerned; the next one is told once this is done. */
  readonly tell: (event: LogEntry) => Promise<void>;
  readonly trouble: FailureLog;
}

/**
 * Every event of the log once and in order, as soon as it is committed. Commits here, and those of other processes that
 * are told over the bus, arrive as stretches; one that follows what was told is told at once. Where one is missing, or none
 * came for a while, the log is read: what arrives makes it quick, and the log makes it true.
 */
export class Feed {
  readonly #parts: FeedParts;
  readonly #waiting = new Map<number, Committed>();
  #position = 0;
  #told = 0;
  #open = false;
  #opening: Promise<void> | undefined;
  #running: Promise<void> | undefined;
  #looking = false;

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  /** The event that is being told, or was told last: it and everything before can be read from the log. */
  get position(): number {
    return this.#position;
  }

  /** Everything up to here has been told. */
  get told(): number {
    return this.#told;
  }

  /** Begins with what is committed from now on. While nobody listens it does nothing. */
  open(): Promise<void> {
    this.#open = true;
    if (this.#opening) return this.#opening;
    const opening = logTip(this.#parts.engine).then((tip) => {
      // It may have been closed meanwhile, and opened anew: then this is not where it begins.
      if (this.#opening !== opening) return;
      this.#position = tip;
      this.#told = tip;
    });
    this.#opening = opening;
    return opening;
  }

  /** Nobody listens any more, or it could not begin. */
  close(): void {
    this.#open = false;
    this.#opening = undefined;
    this.#waiting.clear();
  }

  /** A stretch of the log was committed. */
  offer(stretch: Committed): void {
    if (!this.#open) return;
    if (this.#waiting.size >= mostWaiting) this.#waiting.clear();
    this.#waiting.set(stretch.after, stretch);
    this.#wake();
  }

  /** Reads the log: something may have been missed. */
  look(): void {
    if (!this.#open) return;
    this.#looking = true;
    this.#wake();
  }

  #wake(): void {
    this.#running ??= this.#run()
      .then(this.#parts.trouble.succeeded, this.#parts.trouble.failed)
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #run(): Promise<void> {
    // Those who wrote the events are answered first.
    await new Promise((resolve) => setImmediate(resolve));
    await this.#opening;
    while (this.#open && (this.#waiting.size > 0 || this.#looking)) {
      if (await this.#tellNext()) continue;
      if (!this.#looking && this.#waiting.size > 0) {
        await Bun.sleep(patienceMs);
        if (await this.#tellNext()) continue;
      }
      await this.#read();
    }
  }

  /** Tells the stretch that follows what was told, if it is there. */
  async #tellNext(): Promise<boolean> {
    for (const [after, stretch] of this.#waiting) {
      if (after > this.#position && stretch.last > this.#position) continue;
      this.#waiting.delete(after);
      if (stretch.last <= this.#position) continue;
      await this.#tellAll(stretch.events);
      this.#moveTo(stretch.last);
      return true;
    }
    return false;
  }

  /** Once the log has been read, whatever was committed by then is known: ids rise in the order of commits. */
  async #read(): Promise<void> {
    this.#looking = false;
    const known = Math.max(0, ...[...this.#waiting.values()].map(({ last }) => last));
    const events = await eventsAfter(this.#parts.engine, this.#position, mostRead);
    await this.#tellAll(events);
    if (events.length === mostRead) this.#looking = true;
    else this.#moveTo(known);
  }

  async #tellAll(events: readonly LogEntry[]): Promise<void> {
    for (const event of events) {
      if (event.event_id <= this.#position || !this.#open) continue;
      this.#position = event.event_id;
      await this.#parts.tell(event);
      this.#told = event.event_id;
    }
  }

  #moveTo(position: number): void {
    if (position <= this.#position) return;
    this.#position = position;
    this.#told = position;
  }
}
