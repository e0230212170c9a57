import { invalidField } from '@parley/contract';
import { isLoopbackHost } from '../domain/address.ts';
import { Loop } from '../lib/loop.ts';
import { FailureLog } from '../observe/failure-log.ts';
import type { PushServices } from '../operations/operation.ts';
import { PushDispatcher } from '../push/dispatcher.ts';
import { isReceiverKey } from '../push/encryption.ts';
import { PushSender } from '../push/sender.ts';
import { Vapid } from '../push/vapid.ts';
import { deleteEnded } from '../store/push/subscriptions.ts';
import type { HostLimit } from '../webhooks/host-limit.ts';
import { checkUrl, type Guard } from '../webhooks/ssrf/guard.ts';
import { type Core, deriveKey } from './core.ts';
import type { Live } from './live.ts';

/** A message that is read within this time notifies nobody. */
const defaultDelayMs = 3_000;

/** Pushes that are due are looked for this often. */
const sweepMs = 500;

/** Subscriptions of one user, of which there are never more. */
const maxOfUser = 1_000;

export interface Push {
  readonly services: PushServices;
  /** Starts to follow the log. */
  start(): void;
  stop(): Promise<void>;
}

/** Builds push notifications. They use the guard and the limits of webhooks. */
export function buildPush(
  core: Core,
  { guard, hosts }: { readonly guard: Guard; readonly hosts: HostLimit },
  live: () => Live,
  origin: () => string,
): Push {
  const { engine, eventLog, runtime, key, log, metrics, disk } = core;
  const { now, monotonic, random } = runtime;
  const vapid = new Vapid(deriveKey(key, 'push notifications'), () => subjectOf(origin()), now);
  const isAtClient = (userId: Parameters<Live['presence']['isAtClient']>[0]) => live().presence.isAtClient(userId);
  const delayMs = runtime.pushDelayMs ?? defaultDelayMs;
  let sending: Loop | undefined;
  const dispatcher = new PushDispatcher({
    ...{ engine, eventLog, now, monotonic, delayMs, isAtClient },
    stored: () => setTimeout(() => sending?.wake(), delayMs).unref(),
  });
  const sender = new PushSender({
    ...{ engine, guard, hosts, vapid, now, monotonic, random, isAtClient, metrics, log },
    wake: () => sending?.wake(),
  });
  let dispatching: Loop | undefined;
  const startLoop = (job: string, step: () => Promise<boolean>, options: { sweepMs: number; delayMs?: number }) =>
    new Loop({
      ...{ step, monotonic, timeShare: 0.5, ...options },
      outcomes: new FailureLog(log, 'background_job_failed', { job }),
    });
  return {
    services: {
      publicKey: vapid.publicKey,
      isReceiverKey,
      checkEndpoint: async (endpoint, call) => {
        const url = await checkUrl(guard, endpoint, call, 'endpoint');
        const { protocol, hostname } = new URL(url);
        if (protocol !== 'https:' && !isLoopbackHost(hostname))
          throw invalidField('endpoint', 'must begin with https://');
        return url;
      },
      accessEnded: async (userIds) => {
        for (const userId of userIds) await deleteEnded(engine, now(), maxOfUser, userId);
      },
    },
    start: () => {
      sending = startLoop('push_sending', () => sender.step(), { sweepMs });
      const dispatch = startLoop('push_dispatch', async () => disk.hasRoom && dispatcher.step(), {
        sweepMs: runtime.sweepMs,
        delayMs: 100,
      });
      eventLog.subscribe(() => dispatch.wake());
      dispatch.wake();
      dispatching = dispatch;
    },
    stop: async () => {
      await Promise.all([dispatching?.stop(), sending?.stop()]);
      await sender.stop();
    },
  };
}

/** Push services take https URLs and mail addresses only, and some refuse those of this machine. */
const subjectOf = (origin: string): string => (origin.startsWith('https:') ? origin : 'https://parley.invalid');
