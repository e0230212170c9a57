import type { Engine, Tx } from '../store/engine.ts';
import { pruneEvents } from '../store/events.ts';
import { pruneResponses } from '../store/idempotency.ts';
import { pruneStays } from '../store/members.ts';

const batch = 500;

/** Answers under an Idempotency-Key are promised for a day; they are kept for two. */
const answerMs = 48 * 3_600_000;
const dayMs = 24 * 3_600_000;

/** What goes on with its own rows when events go. */
export interface Dependents {
  /** These events are about to be dropped, in this transaction. */
  dropping(tx: Tx, upTo: number, at: number): Promise<void>;
  /** Drops up to `count` rows of its own that are older than a time; answers how many. */
  prune(tx: Tx, before: number, count: number): Promise<number>;
}

export interface Retention {
  readonly deliveries: Dependents;
  readonly eventDays: number;
  readonly now: () => number;
  readonly counted: (kind: 'events' | 'answers' | 'deliveries' | 'stays', count: number) => void;
}

/** Drops one small batch of what is past its time; answers whether there may be more. */
export async function dropExpired(engine: Engine, retention: Retention): Promise<boolean> {
  const { deliveries: dependents, eventDays, now, counted } = retention;
  const before = now() - eventDays * dayMs;
  const { events, deliveries, stays } = await engine.write(async (tx) => {
    if (!(await tx.tryLock('retention'))) return { events: 0, deliveries: 0, stays: 0 };
    return {
      events: await pruneEvents(tx, before, batch, (upTo) => dependents.dropping(tx, upTo, now())),
      deliveries: await dependents.prune(tx, before, batch),
      stays: await pruneStays(tx, batch),
    };
  });
  const answers = await pruneResponses(engine, now() - answerMs, batch);
  counted('events', events);
  counted('deliveries', deliveries);
  counted('answers', answers);
  counted('stays', stays);
  return events > 0 || deliveries > 0 || stays > 0 || answers === batch;
}
