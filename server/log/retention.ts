import { pruneResponses } from '../store/access/idempotency.ts';
import { prunePeriods } from '../store/chat/members.ts';
import type { Engine, Tx } from '../store/engine/engine.ts';
import { pruneEvents } from '../store/log/events.ts';

const batchSize = 500;

/** Responses under an Idempotency-Key are promised for a day. They are kept for two. */
const idempotencyMs = 48 * 3_600_000;
const dayMs = 24 * 3_600_000;

/** Rows that depend on events. */
interface Dependents {
  /** Called in the transaction that deletes the events up to an id. */
  dropping(tx: Tx, upTo: number, at: number): Promise<void>;
  /** Deletes up to `count` of its own rows older than `before`. Returns how many. */
  prune(tx: Tx, before: number, count: number): Promise<number>;
}

interface Retention {
  readonly deliveries: Dependents;
  readonly eventDays: number;
  readonly now: () => number;
  readonly counted: (kind: 'events' | 'responses' | 'deliveries' | 'membership_periods', count: number) => void;
}

/** Deletes one small batch of expired rows. Returns whether there may be more. */
export async function pruneExpired(engine: Engine, retention: Retention): Promise<boolean> {
  const { deliveries: dependents, eventDays, now, counted } = retention;
  const before = now() - eventDays * dayMs;
  const { events, deliveries, periods } = await engine.write(async (tx) => {
    if (!(await tx.tryLock('retention'))) return { events: 0, deliveries: 0, periods: 0 };
    return {
      events: await pruneEvents(tx, before, batchSize, (upTo) => dependents.dropping(tx, upTo, now())),
      deliveries: await dependents.prune(tx, before, batchSize),
      periods: await prunePeriods(tx, batchSize),
    };
  });
  const responses = await pruneResponses(engine, now() - idempotencyMs, batchSize);
  counted('events', events);
  counted('deliveries', deliveries);
  counted('responses', responses);
  counted('membership_periods', periods);
  return events > 0 || deliveries > 0 || periods > 0 || responses === batchSize;
}
