import { dropEnded } from '../auth/retention.ts';
import type { Settings } from '../config.ts';
import { removeEnded } from '../files/removal.ts';
import type { RateLimits } from '../http/rate-limit.ts';
import { RateSharing } from '../http/rate-sharing.ts';
import { Loop, type LoopOptions } from '../lib/loop.ts';
import { pruneExpired } from '../log/retention.ts';
import { FailureLog } from '../observe/failure-log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { indexNextEvents } from '../search/search-index.ts';
import { pruneRateUses, readOthersRateUses, writeRateUses } from '../store/access/rate-uses.ts';
import type { Engine } from '../store/engine/engine.ts';
import { deleteEnded } from '../store/push/subscriptions.ts';
import { pruneDeliveries } from '../store/webhooks/deliveries.ts';
import { endWithoutAccess } from '../store/webhooks/webhook-ends.ts';
import { pruneWebhooks } from '../store/webhooks/webhooks.ts';
import { expireDeliveries } from '../webhooks/expiry.ts';
import type { Core } from './core.ts';
import { MetricSampler } from './metric-sampler.ts';
import type { Parts } from './parts.ts';
import type { Runtime } from './runtime.ts';

/** The share of the time that the steps of a background job may take, unless it has another. */
const timeShare = 0.1;

/** Push subscriptions without access that are deleted at a time. They get nothing meanwhile. */
const endedBatch = 500;

/** How often the free space is measured. Messages of 16 KB take at most some MB within this time. */
const diskSweepMs = 100;

/** How often the server looks whether a backup is due. */
const backupSweepMs = 10_000;

type Job = Pick<Loop, 'stop'>;

/** Starts the jobs that run beside requests. */
export function startBackgroundJobs(core: Core, parts: Parts, limits: RateLimits): Job[] {
  const { settings, runtime, engine, eventLog, metrics, log, disk } = core;
  const { now, monotonic } = runtime;
  const start = (job: string, options: Pick<LoopOptions, 'step' | 'sweepMs' | 'delayMs' | 'timeShare'>) =>
    new Loop({ timeShare, ...options, monotonic, outcomes: new FailureLog(log, 'background_job_failed', { job }) });
  const searchIndex = start('search_index', {
    // The index of messages sent before could take what is left of a full disk.
    step: async () => disk.hasRoom && indexNextEvents(engine, eventLog, (events) => metrics.searchLag(events)),
    delayMs: 200,
    sweepMs: 1_000,
    // A step waits for the sends before it, and is shorter than those.
    timeShare: 0.5,
  });
  eventLog.subscribe(() => searchIndex.wake());
  searchIndex.wake();
  const { folder } = settings;
  const present = () => parts.live.presence.present();
  const sampler = new MetricSampler({ ...runtime, engine, metrics, folder, present });
  const samples = start('metric_samples', {
    step: () => sampler.step().then(() => false),
    sweepMs: runtime.sweepMs,
  });
  samples.wake();
  const jobs: Job[] = [
    searchIndex,
    samples,
    start('message_counts', {
      step: () => parts.services.dailyMessages.store().then(() => false),
      sweepMs: runtime.sweepMs,
    }),
    start('token_uses', { step: () => parts.storeTokenUses().then(() => false), sweepMs: 5_000 }),
    // Its own job, because a storage that does not respond must not delay the others.
    start('file_removal', {
      step: () => removeEnded(engine, parts.files.blobs, now(), (count) => metrics.pruned('files', count)),
      sweepMs: runtime.fileSweepMs,
    }),
    start('disk_space', { step: () => disk.check().then(() => false), sweepMs: diskSweepMs }),
    start('retention', { step: () => prune(settings, now, engine, metrics), sweepMs: 60_000 }),
  ];
  // With SQLite no other process serves.
  if ((limits.callers || limits.owners) && settings.databaseUrl) {
    const sharing = shareRates(limits, runtime, engine);
    jobs.push(start('rate_limits', { step: () => sharing.exchange().then(() => false), sweepMs: 1_000 }));
  }
  if (settings.backupEvery !== undefined) {
    const backup = start('backup', { step: () => parts.backups.step().then(() => false), sweepMs: backupSweepMs });
    backup.wake();
    jobs.push(backup);
  }
  return jobs;
}

/** Deletes one batch of everything that has expired. Returns whether there may be more. */
async function prune(settings: Settings, now: () => number, engine: Engine, metrics: Metrics): Promise<boolean> {
  await engine.write((tx) => endWithoutAccess(tx, now()));
  await deleteEnded(engine, now(), endedBatch);
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

function shareRates(limits: RateLimits, runtime: Runtime, engine: Engine): RateSharing {
  const node = Buffer.from(runtime.random(9)).toString('base64url');
  return new RateSharing({
    limits,
    totals: {
      write: (totals) => writeRateUses(engine, node, totals),
      readOthers: (withinMs) => readOthersRateUses(engine, node, withinMs),
      prune: (afterMs) => pruneRateUses(engine, afterMs),
    },
    now: runtime.now,
  });
}
