import { dropEnded } from '../auth/retention.ts';
import type { Blobs } from '../blobs/blobs.ts';
import type { Settings } from '../config.ts';
import { removeEnded } from '../files/removal.ts';
import type { RateLimiter } from '../http/rate-limit.ts';
import { RateSharing } from '../http/rate-sharing.ts';
import { Loop, type LoopOptions } from '../lib/loop.ts';
import type { EventLog } from '../log/event-log.ts';
import { pruneExpired } from '../log/retention.ts';
import { FailureLog } from '../observe/failure-log.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { indexNextEvents } from '../search/search-index.ts';
import { pruneDeliveries } from '../store/deliveries.ts';
import type { Engine } from '../store/engine.ts';
import { pruneRateUses, readOthersRateUses, writeRateUses } from '../store/rate-uses.ts';
import { endWithoutAccess } from '../store/webhook-ends.ts';
import { pruneWebhooks } from '../store/webhooks.ts';
import { expireDeliveries } from '../webhooks/expiry.ts';
import type { World } from './world.ts';

/** The share of the time that the steps of a background job may take. */
const timeShare = 0.1;

interface BackgroundDeps {
  readonly engine: Engine;
  readonly eventLog: EventLog;
  readonly blobs: Blobs;
  readonly limiter: RateLimiter | undefined;
  readonly storeTokenUses: () => Promise<void>;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Starts the jobs that run beside requests. */
export function startBackgroundJobs(settings: Settings, world: World, deps: BackgroundDeps): Loop[] {
  const { engine, eventLog, blobs, limiter, storeTokenUses, metrics, log } = deps;
  const { now, monotonic } = world;
  const start = (job: string, options: Pick<LoopOptions, 'step' | 'sweepMs' | 'delayMs'>) =>
    new Loop({ ...options, monotonic, timeShare, outcomes: new FailureLog(log, 'background_job_failed', { job }) });
  const searchIndex = start('search_index', {
    step: () => indexNextEvents(engine, eventLog, (events) => metrics.searchLag(events)),
    delayMs: 200,
    sweepMs: 1_000,
  });
  eventLog.subscribe(() => searchIndex.wake());
  searchIndex.wake();
  const jobs = [
    searchIndex,
    start('token_uses', { step: () => storeTokenUses().then(() => false), sweepMs: 5_000 }),
    // Its own job, because a storage that does not respond must not delay the others.
    start('file_removal', {
      step: () => removeEnded(engine, blobs, now(), (count) => metrics.pruned('files', count)),
      sweepMs: world.fileSweepMs,
    }),
    start('retention', { step: () => prune(settings, now, engine, metrics), sweepMs: 60_000 }),
  ];
  // With SQLite no other process serves.
  if (limiter && settings.databaseUrl) {
    const sharing = shareRates(limiter, world, engine);
    jobs.push(start('rate_limits', { step: () => sharing.exchange().then(() => false), sweepMs: 1_000 }));
  }
  return jobs;
}

/** Deletes one batch of everything that has expired. Returns whether there may be more. */
async function prune(settings: Settings, now: () => number, engine: Engine, metrics: Metrics): Promise<boolean> {
  await engine.write((tx) => endWithoutAccess(tx, now()));
  const hasMoreEnded = await dropEnded(engine, { now: now(), auditDays: settings.auditDays });
  const hasMoreExpired = await pruneExpired(engine, {
    deliveries: {
      dropping: expireDeliveries,
      prune: async (tx, before, count) =>
        (await pruneDeliveries(tx, before, count)) + (await pruneWebhooks(tx, before, count)),
    },
    eventDays: settings.eventDays,
    now,
    counted: (kind, count) => metrics.pruned(kind, count),
  });
  return hasMoreEnded || hasMoreExpired;
}

function shareRates(limiter: RateLimiter, world: World, engine: Engine): RateSharing {
  const node = Buffer.from(world.random(9)).toString('base64url');
  return new RateSharing({
    limiter,
    totals: {
      write: (totals) => writeRateUses(engine, node, totals),
      readOthers: (withinMs) => readOthersRateUses(engine, node, withinMs),
      prune: (afterMs) => pruneRateUses(engine, afterMs),
    },
    now: world.now,
  });
}
