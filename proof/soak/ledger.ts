import type { LoggedEvent } from '@parley/contract';
import { check, type ToldCounts } from '../chaos/check.ts';
import type { Arrival } from '../chaos/evidence.ts';

export interface Entry {
  readonly name: string;
  readonly webhookId: number;
  readonly secret: string;
  readonly receiver: { readonly arrivals: Arrival[] };
  /** Whether the webhook is to be told of an event that its owner sees. */
  readonly isToldOf: (event: LoggedEvent) => boolean;
}

interface Settled {
  readonly event: LoggedEvent;
  readonly arrivals: readonly Arrival[];
}

/** Breaches that are told one by one. */
const mostTold = 20;

/**
 * Holds what came to an endpoint against the log while the run goes on, and lets go of what is settled: a run of hours would
 * not fit into memory. Each part is judged together with the last event before it of each chat, so that nothing can pass
 * unseen from one part to the next.
 */
export class Ledger {
  readonly entry: Entry;
  readonly broken: string[] = [];
  readonly #counts: Record<keyof ToldCounts, number> = {
    delivered: 0,
    repeats: 0,
    outOfOrder: 0,
    lost: 0,
    unknown: 0,
    altered: 0,
    badSignatures: 0,
    mislabelled: 0,
  };
  #open: LoggedEvent[] = [];
  readonly #lastOfChat = new Map<unknown, Settled>();
  #settledUpTo = 0;

  constructor(entry: Entry) {
    this.entry = entry;
  }

  get counts(): ToldCounts {
    return this.#counts;
  }

  /** Events of the log that have not been settled. */
  get open(): number {
    return this.#open.length;
  }

  /** Takes in what the log tells its owner, in its order. */
  expect(events: readonly LoggedEvent[]): void {
    for (const event of events) if (this.entry.isToldOf(event)) this.#open.push(event);
  }

  /** Judges what was accepted up to the first that was not; at the end all there is. */
  settle(isEnd: boolean): void {
    const arrivals = this.#arrivals();
    const accepted = new Set(arrivals.filter(({ acceptedAt }) => acceptedAt !== undefined).map(idOf));
    const waiting = this.#open.findIndex(({ event_id }) => !accepted.has(event_id));
    const count = isEnd || waiting < 0 ? this.#open.length : waiting;
    if (count === 0 && !isEnd) {
      this.#putBack(arrivals);
      return;
    }
    const events = this.#open.slice(0, count);
    this.#open = this.#open.slice(count);
    const ids = new Set(events.map(({ event_id }) => event_id));
    const mine = isEnd ? arrivals : arrivals.filter((arrival) => ids.has(idOf(arrival)));
    if (!isEnd) this.#putBack(arrivals.filter((arrival) => !ids.has(idOf(arrival))));
    this.#judge(events, mine);
    this.#remember(events, mine);
  }

  /** What came and is not judged. What comes again after it was settled is a repeat, and needs no more than that. */
  #arrivals(): Arrival[] {
    const all = this.entry.receiver.arrivals.splice(0);
    const fresh = all.filter((arrival) => !(idOf(arrival) <= this.#settledUpTo));
    this.#counts.repeats += all.length - fresh.length;
    return fresh;
  }

  #putBack(arrivals: readonly Arrival[]): void {
    for (const arrival of arrivals) this.entry.receiver.arrivals.push(arrival);
  }

  #judge(events: readonly LoggedEvent[], arrivals: readonly Arrival[]): void {
    const { name, webhookId, secret } = this.entry;
    const before = [...this.#lastOfChat.values()].sort((a, b) => a.event.event_id - b.event.event_id);
    const known = before.flatMap((settled) => settled.arrivals);
    const log = [...before.map(({ event }) => event), ...events];
    const told = [{ name, webhookId, secret, log, arrivals: [...known, ...arrivals] }];
    const verdict = check({ acknowledged: [], changes: [], found: [], log: [], told });
    const found = verdict.told[name];
    for (const key of Object.keys(this.#counts) as (keyof ToldCounts)[]) this.#counts[key] += found?.[key] ?? 0;
    // Those from before were counted in their own part.
    this.#counts.delivered -= before.length;
    this.#counts.repeats -= known.length - before.length;
    this.broken.push(...verdict.broken.slice(0, mostTold - this.broken.length));
  }

  #remember(events: readonly LoggedEvent[], arrivals: readonly Arrival[]): void {
    const byId = Map.groupBy(arrivals, idOf);
    for (const event of events) {
      this.#lastOfChat.set(event.data.chat_id, { event, arrivals: byId.get(event.event_id) ?? [] });
    }
    this.#settledUpTo = events.at(-1)?.event_id ?? this.#settledUpTo;
  }
}

const idOf = (arrival: Arrival): number => Number(arrival.header('x-webhook-id'));
