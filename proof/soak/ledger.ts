import type { LoggedEvent } from '@parley/contract';
import { check, type DeliveryCounts, deliveryCounts } from '../harness/check.ts';
import type { Arrival, WebhookEvidence } from '../harness/evidence.ts';

interface Settled {
  readonly event: LoggedEvent;
  readonly arrivals: readonly Arrival[];
}

const countKeys = Object.keys(deliveryCounts) as (keyof DeliveryCounts)[];

/** Breaches that are reported one by one. */
const maxReported = 20;

/**
 * Compares what arrived at an endpoint with the log while the run goes on, and forgets what is settled: hours of it would not
 * fit into memory. Each part is judged together with the last event before it of each chat, so that no error falls between
 * two parts.
 */
export class Ledger {
  readonly webhook: Pick<WebhookEvidence, 'name' | 'webhookId' | 'secret'>;
  readonly broken: string[] = [];
  readonly #arrivals: Arrival[];
  readonly #isExpected: (event: LoggedEvent) => boolean;
  readonly #counts = Object.fromEntries(countKeys.map((key) => [key, 0])) as Record<keyof DeliveryCounts, number>;
  #open: LoggedEvent[] = [];
  readonly #lastOfChat = new Map<unknown, Settled>();
  #settledUpTo = 0;

  /** Takes from `arrivals` what it has judged. */
  constructor(webhook: Ledger['webhook'], arrivals: Arrival[], isExpected: (event: LoggedEvent) => boolean) {
    this.webhook = webhook;
    this.#arrivals = arrivals;
    this.#isExpected = isExpected;
  }

  get counts(): DeliveryCounts {
    return this.#counts;
  }

  /** The number of events that are not settled. */
  get open(): number {
    return this.#open.length;
  }

  /** Adds events of the log, in order. */
  expect(events: readonly LoggedEvent[]): void {
    this.#open.push(...events.filter(this.#isExpected));
  }

  /** Judges the events up to the first that was not accepted, or all of them at the end. */
  settle(isEnd: boolean): void {
    const arrivals = this.#takeArrivals();
    const accepted = new Set(arrivals.filter(({ acceptedAt }) => acceptedAt !== undefined).map(idOf));
    const waiting = this.#open.findIndex(({ event_id }) => !accepted.has(event_id));
    const count = isEnd || waiting < 0 ? this.#open.length : waiting;
    if (count === 0 && !isEnd) {
      this.#arrivals.push(...arrivals);
      return;
    }
    const events = this.#open.slice(0, count);
    this.#open = this.#open.slice(count);
    const ids = new Set(events.map(({ event_id }) => event_id));
    const mine = isEnd ? arrivals : arrivals.filter((arrival) => ids.has(idOf(arrival)));
    if (!isEnd) this.#arrivals.push(...arrivals.filter((arrival) => !ids.has(idOf(arrival))));
    this.#judge(events, mine);
    this.#remember(events, mine);
  }

  /** Returns the arrivals that are not judged. Further ones for a settled event only count as repeats. */
  #takeArrivals(): Arrival[] {
    const all = this.#arrivals.splice(0);
    const fresh = all.filter((arrival) => !(idOf(arrival) <= this.#settledUpTo));
    this.#counts.repeats += all.length - fresh.length;
    return fresh;
  }

  #judge(events: readonly LoggedEvent[], arrivals: readonly Arrival[]): void {
    const before = [...this.#lastOfChat.values()].sort((a, b) => a.event.event_id - b.event.event_id);
    const known = before.flatMap((settled) => settled.arrivals);
    const log = [...before.map(({ event }) => event), ...events];
    const webhooks = [{ ...this.webhook, log, arrivals: [...known, ...arrivals] }];
    const verdict = check({ acknowledged: [], changes: [], found: [], log: [], webhooks });
    const found = verdict.webhooks[this.webhook.name];
    for (const key of countKeys) this.#counts[key] += found?.[key] ?? 0;
    // The earlier events count in their own part.
    this.#counts.delivered -= before.length;
    this.#counts.repeats -= known.length - before.length;
    this.broken.push(...verdict.broken.slice(0, maxReported - this.broken.length));
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
