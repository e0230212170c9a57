import type { Environment } from '../harness/child.ts';
import { figure } from '../harness/report.ts';
import { pause } from '../harness/wait.ts';
import type { ActName } from './acts.ts';
import { openProbe } from './database.ts';
import type { Ledger } from './ledger.ts';
import { Listeners } from './listeners.ts';
import { Load, maxReported } from './load.ts';
import { planOf } from './plan.ts';
import { makeLogReader, misbehaveNowAndThen, openReceivers, serverSettings, setScene } from './scene.ts';
import type { ObjectCounts } from './server.ts';
import { Target } from './target.ts';
import { verify } from './verify.ts';
import { Watch } from './watch.ts';

export interface SoakOptions {
  /** The environment of a server with its own database. */
  readonly env: Environment;
  readonly minutes: number;
  /** If it is given, the load goes on beyond its time until this returns true. */
  readonly isEnough?: (progress: Progress) => boolean;
  readonly sendsPerSecond: number;
  readonly seed: number;
  /** Ends the load early. */
  readonly stop: AbortSignal;
  readonly print: (line: string) => void;
}

export interface Progress {
  readonly acts: Readonly<Record<ActName, number>>;
  /** Events that arrived on streams. */
  readonly heard: number;
  readonly watch: Watch;
}

export type SoakResult = Awaited<ReturnType<typeof soak>>;

const settleEveryMs = 5_000;

/** Loads a server steadily and measures it meanwhile. Then verifies everything that it acknowledged. */
export async function soak(options: SoakOptions) {
  const { seed, minutes, isEnough = () => true, sendsPerSecond, stop, print } = options;
  const plan = planOf(minutes);
  const env = { ...options.env, ...serverSettings };
  await using ends = new AsyncDisposableStack();
  const receivers = await openReceivers(seed, ends);
  const target = ends.use(await Target.open(env, plan.leapEveryMs));
  const database = ends.use(openProbe(env));
  const { scene, ledgers } = await setScene(seed, target, env, receivers);
  const log = makeLogReader(scene.stage.owner, (events) => {
    for (const ledger of ledgers) ledger.expect(events);
  });
  const load = new Load(scene, sendsPerSecond);
  const listeners = new Listeners(scene, seed);
  const watch = new Watch({ target, database, scene, load });

  print('The load begins.');
  const began = performance.now();
  const over = new AbortController();
  const end = AbortSignal.any([stop, over.signal]);
  const endInTime = async () => {
    await pause(minutes * 60_000, end);
    const isDone = () => isEnough({ acts: load.counts, heard: listeners.heard, watch });
    while (!isDone() && !end.aborted) await pause(50, end);
    over.abort();
  };
  let warm: ObjectCounts = {};
  const countObjectsWhenWarm = async () => {
    await pause(plan.warmUpSeconds * 1_000, end);
    warm = (await target.heapMetrics()).objects;
  };
  const settleLedgers = async () => {
    for (; !end.aborted; await pause(settleEveryMs, end)) for (const ledger of ledgers) ledger.settle(false);
  };
  const printEveryMinute = async () => {
    for (let minute = 1; ; minute++) {
      await pause(Math.max(0, began + minute * 60_000 - performance.now()), end);
      if (end.aborted) return;
      print(progressLine(minute, watch, scene.acknowledged.size, ledgers));
    }
  };
  const parts = [
    load.run(end),
    listeners.run(end),
    log.run(end),
    misbehaveNowAndThen(receivers.troubled, seed, end),
    watch.run(plan.sampleEveryMs, end),
    countObjectsWhenWarm(),
    settleLedgers(),
    printEveryMinute(),
    endInTime(),
  ];
  // If one part fails, the others end too.
  for (const part of parts) part.catch(() => over.abort());
  const ended = await Promise.allSettled(parts);
  // The time for the calls in flight at the end is not of the load.
  const seconds = Math.min(plan.seconds, (performance.now() - began) / 1_000);
  for (const one of ended) if (one.status === 'rejected') throw one.reason;

  const { found, broken } = await verify(scene, log, ledgers);
  const { leftOut, failures } = load;
  const { connections, heard } = listeners;
  const deliveries = ledgers.map(({ webhook, counts }) => [webhook.name, counts] as const);
  return {
    ...{ plan, sendsPerSecond, seconds, watch, acts: load.counts },
    counts: { leftOut, failures, connections, heard, events: log.events.length, found },
    deliveries: Object.fromEntries(deliveries),
    /** Objects in memory after the warm-up, and at the end. */
    objects: { warm, end: (await target.heapMetrics()).objects },
    broken: [...broken, ...load.unexpected, ...listeners.unexpected.slice(0, maxReported)],
  };
}

function progressLine(minute: number, watch: Watch, sent: number, ledgers: readonly Ledger[]): string {
  const last = (name: Parameters<Watch['last']>[0], digits = 0) => watch.last(name)?.toFixed(digits) ?? '?';
  const open = ledgers.map(({ webhook, open }) => `${webhook.name} ${open}`).join(', ');
  return [
    `${minute} min: ${figure(sent)} messages`,
    `memory ${last('resident memory')} MB (heap ${last('live JavaScript heap')})`,
    `${last('file descriptors')} descriptors`,
    `${last('bytes of database per message')} bytes a message`,
    `p99 ${last('p99 of sends', 1)} ms`,
    `still to deliver: ${open}`,
  ].join('; ');
}
