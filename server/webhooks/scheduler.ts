import type { QueuedDelivery } from './chat-queue.ts';
import { ConcurrencyLimit, type Kind, type Slot } from './concurrency-limit.ts';
import type { DeliveryDeps } from './deps.ts';
import type { EndpointQueue } from './endpoint-queue.ts';

/** An attempt that may start now. */
export interface Job {
  readonly queue: EndpointQueue;
  readonly delivery: QueuedDelivery;
  readonly slot: Slot;
}

/** Chooses which endpoint sends next: round-robin over those that have something to send, within the concurrency limit. */
export class Scheduler {
  readonly #limit: ConcurrencyLimit;
  readonly #ring: EndpointQueue[] = [];
  readonly #inRing = new Set<EndpointQueue>();
  /** Queues that wait for a slot, by the limit that refused them. */
  readonly #parked: Record<Kind | 'host', EndpointQueue[]> = { suspect: [], untried: [], proven: [], host: [] };
  #hostWaitMs = Number.POSITIVE_INFINITY;

  constructor({ maxRequests, hosts }: Pick<DeliveryDeps, 'maxRequests' | 'hosts'>) {
    this.#limit = new ConcurrencyLimit(maxRequests, hosts);
  }

  get inFlight(): number {
    return this.#limit.inFlight;
  }

  /** The endpoint has something to send. */
  add(queue: EndpointQueue): void {
    if (this.#inRing.has(queue)) return;
    this.#inRing.add(queue);
    this.#ring.push(queue);
  }

  /** Returns the next attempt to start, or undefined if none may start now. */
  next(): Job | undefined {
    for (let queue = this.#ring.shift(); queue; queue = this.#ring.shift()) {
      this.#inRing.delete(queue);
      if (!queue.canSend()) continue;
      const slot = this.#limit.take(queue.usage);
      if ('refusal' in slot) {
        // An endpoint at its own limit continues when one of its own attempts ends.
        if (slot.refusal === 'host') this.#hostWaitMs = Math.min(this.#hostWaitMs, slot.waitMs);
        if (slot.refusal !== 'own') this.#parked[slot.refusal].push(queue);
        continue;
      }
      const delivery = queue.chats.begin();
      if (queue.chats.hasReady) this.add(queue);
      if (delivery) return { queue, delivery, slot };
      this.#limit.release(slot);
    }
    return undefined;
  }

  /** Others may start after this: call `next`. */
  release(slot: Slot): void {
    this.#limit.release(slot);
    this.#admit('proven');
    this.#admit(slot.kind);
    if (slot.host !== undefined) this.retryHosts();
  }

  /** After this time a host gets requests again: call `retryHosts`. Infinite if none waits. */
  get hostWaitMs(): number {
    return this.#hostWaitMs;
  }

  /** Lets the queues try again that wait for their host: call `next`. */
  retryHosts(): void {
    this.#hostWaitMs = Number.POSITIVE_INFINITY;
    this.#admit('host');
  }

  /** Lets the queues try again that wait for this limit. */
  #admit(kind: Kind | 'host'): void {
    if (this.#parked[kind].length > 0) for (const queue of this.#parked[kind].splice(0)) this.add(queue);
  }
}
