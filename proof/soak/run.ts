import { quietPort } from '../../server/test/support/quiet-port.ts';
import type { ToldCounts } from '../chaos/check.ts';
import { pause } from '../chaos/pause.ts';
import { makePeople } from '../chaos/stage.ts';
import type { ActName } from './acts.ts';
import { besideDatabase } from './database.ts';
import type { Kinds } from './inside.ts';
import { Ledger } from './ledger.ts';
import { Listeners } from './listeners.ts';
import { Load } from './load.ts';
import { Log } from './log.ts';
import { type Plan, planOf } from './plan.ts';
import { prove } from './proof.ts';
import { Endpoints, makePerson, setScene, settings } from './stage.ts';
import { Subject } from './subject.ts';
import { troubleNowAndThen } from './trouble.ts';
import { Watch } from './watch.ts';

export interface SoakOptions {
  /** Of a server of its own, database included. */
  readonly env: Record<string, string>;
  /** How long the load lasts. */
  readonly minutes: number;
  /** Where it is given, the load goes on after that until this is so. */
  readonly isEnough?: (soFar: SoFar) => boolean;
  readonly sendsPerSecond: number;
  readonly seed: number;
  /** Ends the load before its time. */
  readonly stop: AbortSignal;
  readonly tell: (line: string) => void;
}

/** What has come of the load so far. */
export interface SoFar {
  readonly acts: Readonly<Record<ActName, number>>;
  /** Events that came on streams. */
  readonly heard: number;
  readonly watch: Watch;
}

export interface SoakResult {
  readonly plan: Plan;
  readonly sendsPerSecond: number;
  /** How long the load lasted. */
  readonly seconds: number;
  readonly watch: Watch;
  /** How often each was done. */
  readonly acts: Readonly<Record<ActName, number>>;
  readonly counts: Readonly<Record<'leftOut' | 'failures' | 'connections' | 'heard' | 'events' | 'found', number>>;
  readonly told: Readonly<Record<string, ToldCounts>>;
  /** Objects in memory when the warm-up was over, and at the end. */
  readonly kinds: { readonly warm: Kinds; readonly end: Kinds };
  readonly broken: readonly string[];
}

const settleEveryMs = 5_000;

/** What streams did that they must not is told by its first few. */
const mostTold = 20;

/** Steady load on a server, which is watched meanwhile; and at the end what it promised is held against what came. */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const { seed, minutes, isEnough = () => true, sendsPerSecond, stop, tell } = options;
  const plan = planOf(minutes);
  const env = { ...options.env, ...settings };
  const port = await quietPort();
  const people = await makePeople(env, `http://127.0.0.1:${port}`);
  const person = await makePerson(env);
  await using endpoints = await Endpoints.open(seed);
  await using subject = await Subject.start(env, port, plan.leapEveryMs);
  await using database = besideDatabase(env);
  const { scene, entries } = await setScene(seed, people, person, endpoints);
  const ledgers = entries.map((entry) => new Ledger(entry));
  const log = new Log(people.owner, (events) => {
    for (const ledger of ledgers) ledger.expect(events);
  });
  const load = new Load(scene, sendsPerSecond);
  const listeners = new Listeners(scene, seed);
  const watch = new Watch({
    subject,
    database,
    everyMs: plan.sampleEveryMs,
    messages: () => scene.acknowledged.size,
    takeSendMs: () => load.takeSendMs(),
  });

  tell('The load begins.');
  const began = performance.now();
  const over = new AbortController();
  const end = AbortSignal.any([stop, over.signal]);
  const endInTime = async () => {
    await pause(minutes * 60_000, end);
    const soFar = () => ({ acts: load.counts, heard: listeners.heard, watch });
    while (!isEnough(soFar()) && !end.aborted) await pause(50, end);
    over.abort();
  };
  let warm: Kinds = {};
  const lookWhenWarm = async () => {
    await pause(plan.warmUpSeconds * 1_000, end);
    warm = (await subject.held()).kinds;
  };
  const settleNowAndThen = async () => {
    for (; !end.aborted; await pause(settleEveryMs, end)) for (const ledger of ledgers) ledger.settle(false);
  };
  const tellEveryMinute = async () => {
    for (let minute = 1; ; minute++) {
      await pause(Math.max(0, began + minute * 60_000 - performance.now()), end);
      if (end.aborted) return;
      tell(progress(minute, watch, scene.acknowledged.size, ledgers));
    }
  };
  const parts = [
    load.run(end),
    listeners.run(end),
    log.run(end),
    troubleNowAndThen(endpoints.troubled, seed, end),
    watch.run(end),
    lookWhenWarm(),
    settleNowAndThen(),
    tellEveryMinute(),
    endInTime(),
  ];
  // Where one part fails the others come to their end.
  for (const part of parts) part.catch(() => over.abort());
  const ended = await Promise.allSettled(parts);
  // What was under way at the end is waited for, and watched no longer.
  const seconds = Math.min(plan.seconds, (performance.now() - began) / 1_000);
  for (const one of ended) if (one.status === 'rejected') throw one.reason;

  const { found, broken } = await prove(scene, log, ledgers);
  const { leftOut, failures } = load;
  const { connections, heard } = listeners;
  return {
    plan,
    sendsPerSecond,
    seconds,
    watch,
    acts: load.counts,
    counts: { leftOut, failures, connections, heard, events: log.events.length, found },
    told: Object.fromEntries(ledgers.map(({ entry, counts }) => [entry.name, counts])),
    kinds: { warm, end: (await subject.held()).kinds },
    broken: [...broken, ...load.unexpected, ...listeners.unexpected.slice(0, mostTold)],
  };
}

function progress(minute: number, watch: Watch, sent: number, ledgers: readonly Ledger[]): string {
  const last = (name: Parameters<Watch['last']>[0], digits = 0) => watch.last(name)?.toFixed(digits) ?? '?';
  const open = ledgers.map(({ entry, open }) => `${entry.name} ${open}`).join(', ');
  return [
    `${minute} min: ${sent.toLocaleString('en')} messages`,
    `memory ${last('resident memory')} MB (heap ${last('live JavaScript heap')})`,
    `${last('file descriptors')} descriptors`,
    `${last('bytes of database per message')} bytes a message`,
    `p99 ${last('p99 of sends', 1)} ms`,
    `still to deliver: ${open}`,
  ].join('; ');
}
