import { dropEnded } from '../auth/retention.ts';
import type { Blobs } from '../blobs/blobs.ts';
import type { Settings } from '../config.ts';
import { Follower } from '../events/follower.ts';
import { dropExpired } from '../events/retention.ts';
import { indexNextEvents } from '../events/search-index.ts';
import { removeEnded } from '../files/removal.ts';
import type { RateLimiter } from '../http/rate-limit.ts';
import { RateSharing } from '../http/rate-sharing.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { pruneDeliveries } from '../store/deliveries.ts';
import type { Engine } from '../store/engine.ts';
import { pruneRateUses, readOthersRateUses, writeRateUses } from '../store/rate-uses.ts';
import { endWithoutAccess } from '../store/webhook-ends.ts';
import { pruneWebhooks } from '../store/webhooks.ts';
import { expireDeliveries } from '../webhooks/expiry.ts';
import type { World } from './world.ts';

/** What goes on beside the requests. */
export function startFollowers(
  settings: Settings,
  world: World,
  engine: Engine,
  blobs: Blobs,
  noteUses: () => Promise<void>,
  metrics: Metrics,
  log: Log,
) {
  return {
    searchIndex: new Follower({
      name: 'search index',
      step: () => indexNextEvents(engine, (events) => metrics.searchLag(events)),
      gatherMs: 200,
      sweepMs: 1_000,
      share: 0.1,
      log,
    }),
    lastUses: new Follower({
      name: 'last uses of tokens',
      step: () => noteUses().then(() => false),
      gatherMs: 0,
      sweepMs: 5_000,
      share: 0.1,
      log,
    }),
    // By itself: a storage that is away must not hold up the rest.
    files: new Follower({
      name: 'files',
      step: () => removeEnded(engine, blobs, world.now(), (count) => metrics.pruned('files', count)),
      gatherMs: 0,
      sweepMs: world.fileSweepMs,
      share: 0.1,
      log,
    }),
    housekeeping: new Follower({
      name: 'housekeeping',
      step: async () => {
        await engine.write((tx) => endWithoutAccess(tx, world.now()));
        const moreEnded = await dropEnded(engine, { now: world.now(), auditDays: settings.auditDays });
        const moreExpired = await dropExpired(engine, {
          deliveries: {
            dropping: expireDeliveries,
            prune: async (tx, before, count) =>
              (await pruneDeliveries(tx, before, count)) + (await pruneWebhooks(tx, before, count)),
          },
          eventDays: settings.eventDays,
          now: world.now,
          counted: (kind, count) => metrics.pruned(kind, count),
        });
        return moreEnded || moreExpired;
      },
      gatherMs: 0,
      sweepMs: 60_000,
      share: 0.1,
      log,
    }),
  };
}

/** Once a second, as long as there is anything to share. */
export function shareRates(limiter: RateLimiter, world: World, engine: Engine, log: Log): Follower {
  const node = Buffer.from(world.random(9)).toString('base64url');
  const sharing = new RateSharing({
    limiter,
    totals: {
      write: (totals) => writeRateUses(engine, node, totals),
      readOthers: (withinMs) => readOthersRateUses(engine, node, withinMs),
      prune: (afterMs) => pruneRateUses(engine, afterMs),
    },
    now: world.now,
  });
  const step = () => sharing.exchange().then(() => false);
  return new Follower({ name: 'rate limits', step, gatherMs: 0, sweepMs: 1_000, share: 0.1, log });
}
