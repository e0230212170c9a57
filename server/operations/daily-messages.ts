import type { UserId } from '@parley/contract';
import { type Quotas, requireWithin } from '../domain/quotas.ts';
import { addMessages } from '../store/access/owner-use.ts';
import type { Engine } from '../store/engine/engine.ts';

export const dayMs = 86_400_000;

interface Count {
  /** The sum over all servers, when it was last stored. */
  stored: number;
  /** Counted here since. */
  added: number;
}

/**
 * Counts the messages of each owner on a day in UTC, and their other changes that are stored as events. A send costs a lookup in memory. The counts are stored and shared with
 * other servers every few seconds, so an owner may exceed the quota by what they send in that time.
 */
export class DailyMessages {
  readonly #engine: Engine;
  readonly #now: () => number;
  readonly #quotas: Quotas;
  #day = 0;
  #counts = new Map<UserId, Count>();

  constructor(engine: Engine, now: () => number, quotas: Quotas) {
    this.#engine = engine;
    this.#now = now;
    this.#quotas = quotas;
  }

  /** Throws `conflict` if the owner has sent as many messages today as allowed. A change of several events needs room for one. */
  require(ownerId: UserId): void {
    const count = this.#today().get(ownerId);
    if (count) requireWithin(this.#quotas, 'dailyMessages', count.stored + count.added + 1);
  }

  /** Counts a message that was sent or edited, or the events of another change. */
  add(ownerId: UserId, events = 1): void {
    const counts = this.#today();
    const count = counts.get(ownerId);
    if (count) count.added += events;
    else counts.set(ownerId, { stored: 0, added: events });
  }

  /** Stores what was counted since the last call, and reads what other servers have counted. */
  async store(): Promise<void> {
    const counts = this.#today();
    const added = [...counts].flatMap(([owner_id, { added: messages }]) =>
      messages > 0 ? { owner_id, messages } : [],
    );
    if (added.length === 0) return;
    const day = this.#day;
    const sums = await this.#engine.writeRelaxed((tx) => addMessages(tx, day, added));
    for (const { owner_id, messages } of added) {
      const count = counts.get(owner_id);
      if (count) count.added -= messages;
    }
    for (const { owner_id, messages } of sums) {
      const count = counts.get(owner_id);
      if (count) count.stored = messages;
    }
  }

  #today(): Map<UserId, Count> {
    const day = Math.floor(this.#now() / dayMs);
    if (day !== this.#day) this.#counts = new Map();
    this.#day = day;
    return this.#counts;
  }
}
