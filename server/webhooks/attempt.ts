import { LRUCache } from 'lru-cache';
import { Batcher } from '../lib/batcher.ts';
import type { LogEntry } from '../store/engine/engine.ts';
import { eventsNamed } from '../store/log/events.ts';
import type { WebhookRow } from '../store/webhooks/webhooks.ts';
import type { QueuedDelivery } from './chat-queue.ts';
import type { DeliveryDeps } from './deps.ts';
import { isSuccess } from './health.ts';
import type { Outcome } from './outcome.ts';
import type { AttemptResult } from './result-writer.ts';

/** The webhook that an attempt is for. */
export interface AttemptTarget {
  readonly webhook: WebhookRow;
  /** This process may send for it at this moment. */
  readonly isOurs: boolean;
  readonly hasEnded: boolean;
}

/** The result of trying to make an attempt. */
export type Attempt =
  | { readonly kind: 'sent'; readonly startedAt: number; readonly webhook: WebhookRow; readonly outcome: Outcome }
  /** The request was not sent, or the process may no longer act on its outcome. The attempt is repeated. */
  | { readonly kind: 'cancelled' }
  /** The event is no longer in the log. */
  | { readonly kind: 'event_missing' }
  /** An error of our own. */
  | { readonly kind: 'fault' };

type EventBody = Pick<LogEntry, 'body' | 'created_at' | 'size'>;

/** Characters of bodies that are cached: most events are delivered within moments of their commit, to all subscribers. */
const cachedCharacters = 8_000_000;

/** Makes attempts: one POST each. */
export class Attempts {
  readonly #deps: DeliveryDeps;
  readonly #bodies = new LRUCache<number, EventBody>({
    maxSize: cachedCharacters,
    sizeCalculation: ({ size }) => size + 1,
  });
  /** Bodies that are needed in the same turn are read together. */
  readonly #reads: Batcher<number, EventBody | null>;
  #isClosed = false;

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
    this.#reads = new Batcher((ids) => this.#read(ids), { maxItems: 1_000, concurrentBatches: 4 });
  }

  /** Caches the bodies of events that were just read. */
  remember(events: readonly LogEntry[]): void {
    for (const event of events) this.#bodies.set(event.event_id, event);
  }

  /** Cancels the attempts in flight, and all later ones. */
  close(): void {
    this.#isClosed = true;
    this.#deps.sender.close();
  }

  /** Sends a delivery. Never rejects. One function, because every await costs time on the hot path. */
  async make(target: AttemptTarget, delivery: Readonly<QueuedDelivery>): Promise<Attempt> {
    const { sender, now, log, metrics } = this.#deps;
    const { deliveryId, eventId, event, attempts, replayId } = delivery;
    try {
      const row = this.#bodies.get(eventId) ?? (await this.#reads.submit(eventId));
      if (!target.isOurs) return { kind: 'cancelled' };
      if (!row) return { kind: 'event_missing' };
      const { body, created_at } = row;
      const at = now();
      if (attempts === 0 && replayId === 0) metrics.lag(Math.max(0, at - created_at) / 1_000);
      const sending = { id: String(eventId), event, body, attempt: attempts + 1, replayId, at };
      const { webhook } = target;
      const outcome = await sender.send(webhook, sending);
      if (this.#isClosed || target.hasEnded) return { kind: 'cancelled' };
      metrics.attempted(labelOf(outcome), outcome.ms / 1_000);
      return { kind: 'sent', startedAt: at, webhook, outcome };
    } catch (cause) {
      // A database that is away is logged once, not for each delivery that waits for it.
      const level = (cause as { code?: unknown }).code === 'unavailable' ? 'debug' : 'error';
      log.write(level, 'delivery_attempt_failed', { delivery_id: deliveryId, cause });
      return { kind: 'fault' };
    }
  }

  /** Returns null for an event that is no longer in the log. */
  async #read(eventIds: readonly number[]): Promise<(EventBody | null)[]> {
    const rows = await eventsNamed(this.#deps.engine, [...new Set(eventIds)]);
    this.remember(rows);
    const byId = new Map<number, LogEntry>(rows.map((row) => [row.event_id, row]));
    return eventIds.map((id) => byId.get(id) ?? null);
  }

  /** Measures and logs what an attempt led to. */
  report({ webhookId, result }: AttemptResult, { eventId }: QueuedDelivery): void {
    const { log, metrics } = this.#deps;
    const { delivery_id, attempts: attempt, state, status, error, duration_ms } = result;
    if (state !== 'retrying') metrics.settled(state, 1);
    if (!log.enabled('info')) return;
    const fields = { webhook_id: webhookId, delivery_id, event_id: eventId, attempt, state, status, error };
    log.write('info', 'delivery_attempted', { ...fields, ms: duration_ms });
  }
}

function labelOf(outcome: Outcome): string {
  if (outcome.kind === 'unreached') return outcome.failure;
  return isSuccess(outcome) ? 'delivered' : `${Math.floor(outcome.status / 100)}xx`;
}
