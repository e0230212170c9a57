import { pruneExpired } from '../../log/retention.ts';
import type { Engine } from '../../store/engine/engine.ts';
import { pruneDeliveries } from '../../store/webhooks/deliveries.ts';
import { expireDeliveries } from '../../webhooks/expiry.ts';
import { eventually } from './eventually.ts';

const dayMs = 24 * 3_600_000;

/**
 * Resolves once all who follow the log have read all of it. A clock may jump then: the search index pauses in proportion to the time that a
 * step takes by it.
 */
export const logRead = (engine: Engine): Promise<true> =>
  eventually('all who follow the log have read it', async () => {
    const behind = await engine.all<{ name: string }>(
      `SELECT name FROM cursors WHERE name <> 'pruned' AND event_id < (SELECT max(event_id) FROM events)`,
    );
    return behind.length === 0 || undefined;
  });

/** Deletes the events that are older than a day, and their deliveries. Events wait for whoever follows the log. */
export async function dropExpired(engine: Engine, now: () => number): Promise<void> {
  const deliveries = { dropping: expireDeliveries, prune: pruneDeliveries };
  await logRead(engine);
  await eventually('the old events are gone', async () => {
    while (await pruneExpired(engine, { deliveries, eventDays: 1, now, counted: () => {} }));
    // The server may have been about to delete them itself.
    const old = await engine.get('SELECT 1 FROM events WHERE created_at < $1 LIMIT 1', [now() - dayMs]);
    return old === undefined || undefined;
  });
}
