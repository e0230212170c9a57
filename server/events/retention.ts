import type { Engine } from '../store/engine.ts';
import { pruneEvents } from '../store/events.ts';
import { pruneAnswers } from '../store/idempotency.ts';

const batch = 500;

/** Answers under an Idempotency-Key are promised for a day; they are kept for two. */
const answerMs = 48 * 3_600_000;
const dayMs = 24 * 3_600_000;

export interface Retention {
  readonly eventDays: number;
  readonly now: () => number;
  readonly counted: (kind: 'events' | 'answers', count: number) => void;
}

/** Drops one small batch of what is past its time; answers whether there may be more. */
export async function dropExpired(engine: Engine, { eventDays, now, counted }: Retention): Promise<boolean> {
  const events = await engine.write(async (tx) =>
    (await tx.tryLock('retention')) ? pruneEvents(tx, now() - eventDays * dayMs, batch) : 0,
  );
  const answers = await pruneAnswers(engine, now() - answerMs, batch);
  counted('events', events);
  counted('answers', answers);
  return events > 0 || answers === batch;
}
