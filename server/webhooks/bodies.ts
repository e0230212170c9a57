import type { Db } from '../store/engine.ts';
import { type EventRow, eventsNamed } from '../store/events.ts';

export interface Body {
  readonly text: string;
  /** When the event happened. */
  readonly at: number;
}

/** Characters that are kept, at least: most events are delivered within moments of being written, to all who want them. */
const keptText = 4_000_000;

/** The bodies of events. Those asked for in one turn are read together. */
export class Bodies {
  readonly #db: Db;
  /** In two halves: when one is full, the other is forgotten. Dropping the oldest one by one took a third of all time. */
  #newer = new Map<number, Body>();
  #older = new Map<number, Body>();
  #size = 0;
  #asked = new Map<number, PromiseWithResolvers<Body | undefined>>();

  constructor(db: Db) {
    this.#db = db;
  }

  keep({ event_id, body, created_at }: Pick<EventRow, 'event_id' | 'body' | 'created_at'>): Body {
    const kept = { text: body, at: created_at };
    this.#newer.set(event_id, kept);
    this.#size += body.length;
    if (this.#size > keptText) {
      this.#older = this.#newer;
      this.#newer = new Map();
      this.#size = 0;
    }
    return kept;
  }

  /** Undefined where the event is no longer in the log. */
  get(eventId: number): Body | Promise<Body | undefined> {
    const kept = this.#newer.get(eventId) ?? this.#older.get(eventId);
    if (kept) return kept;
    if (this.#asked.size === 0) setImmediate(() => void this.#read());
    const asked = this.#asked.get(eventId) ?? Promise.withResolvers<Body | undefined>();
    this.#asked.set(eventId, asked);
    return asked.promise;
  }

  async #read(): Promise<void> {
    const asked = this.#asked;
    this.#asked = new Map();
    try {
      const found = new Map(
        (await eventsNamed(this.#db, [...asked.keys()])).map((row) => [row.event_id as number, row]),
      );
      for (const [eventId, { resolve }] of asked) {
        const row = found.get(eventId);
        resolve(row && this.keep(row));
      }
    } catch (error) {
      for (const { reject } of asked.values()) reject(error);
    }
  }
}
