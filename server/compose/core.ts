import type { Settings } from '../config.ts';
import type { Quotas } from '../domain/quotas.ts';
import { EventLog } from '../log/event-log.ts';
import { type LogDeps, MembershipIndex } from '../log/membership.ts';
import { Log } from '../observe/log.ts';
import { Metrics } from '../observe/metrics.ts';
import packageJson from '../package.json' with { type: 'json' };
import { DiskGuard } from '../store/data-folder/disk-guard.ts';
import { claimKey, secretKey } from '../store/data-folder/secret-key.ts';
import { openStore } from '../store/engine/open.ts';
import type { Runtime } from './runtime.ts';

export const { version } = packageJson;

/** Steps that release what a failed start has opened. The last one runs first. */
export type Cleanup = (() => unknown)[];

/** Every part of the process is built on these. */
export interface Core extends LogDeps {
  readonly settings: Settings;
  readonly runtime: Runtime;
  /** Seals stored secrets. Other keys are derived from it. */
  readonly key: Uint8Array;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly disk: DiskGuard;
}

export const quotasOf = (settings: Settings): Quotas => ({
  fileBytes: settings.ownerFileBytes,
  dailyMessages: settings.ownerDailyMessages,
  chats: settings.ownerChats,
  bots: settings.ownerBots,
});

/** Opens the database and the event log. */
export async function openCore(settings: Settings, runtime: Runtime, cleanup: Cleanup): Promise<Core> {
  const { now, monotonic, sweepMs, print, random } = runtime;
  const log = new Log(settings.logLevel, logFormat(settings), print, now);
  const metrics = new Metrics(version);
  const engine = await openStore(settings, now, monotonic);
  cleanup.push(() => engine.close());
  engine.locked = (waitedMs, heldMs) => metrics.eventLock(waitedMs, heldMs);
  const eventLog = new EventLog({ engine, monotonic, sweepMs, log });
  cleanup.push(() => eventLog.stop());
  await eventLog.refresh();
  const key = secretKey(settings.folder, settings.secretKey, random);
  await claimKey(engine, key, settings.folder);
  const membership = new MembershipIndex(engine, eventLog);
  const disk = await watchDisk(settings, runtime, metrics, log);
  return { settings, runtime, engine, eventLog, membership, key, metrics, log, disk };
}

/** Returns a guard that has checked the disk once. */
async function watchDisk(settings: Settings, runtime: Runtime, metrics: Metrics, log: Log): Promise<DiskGuard> {
  const disk = new DiskGuard({
    folder: settings.folder,
    // With PostgreSQL and S3 nothing of ours grows on this disk.
    reserveBytes: settings.databaseUrl && settings.s3 ? 0 : settings.diskReserve,
    holdsDatabase: settings.databaseUrl === undefined,
    measure: runtime.measureSpace,
    checked: ({ free }, isLow) => metrics.disk(free, isLow),
    changed: ({ free, total }, isLow) =>
      log.write(isLow ? 'warn' : 'info', isLow ? 'disk_low' : 'disk_recovered', {
        free_bytes: free,
        total_bytes: total,
      }),
  });
  await disk.check();
  return disk;
}

/** Returns a key for one use. It does not reveal `key`. */
export const deriveKey = (key: Uint8Array, use: string): Uint8Array =>
  new Bun.CryptoHasher('sha256', key).update(use).digest();

function logFormat({ logFormat }: Settings): 'json' | 'text' {
  if (logFormat !== 'auto') return logFormat;
  return process.stdout.isTTY ? 'text' : 'json';
}
