import type { EngineName } from '../../../server/test/support/engines.ts';
import { pause } from '../pause.ts';
import { stream } from '../random.ts';
import { Calls } from './calls.ts';
import { checkTrial, type TrialVerdict } from './check.ts';
import type { TrialEvidence } from './evidence.ts';
import { type Hook, registerHook, registerHooks } from './hooks.ts';
import { find } from './look.ts';
import type { Nodes } from './nodes.ts';
import { Pager } from './pager.ts';
import type { Reader } from './reader.ts';
import { makeReaders } from './readers.ts';
import { startServers } from './servers.ts';
import { settleHooks, settleStreams } from './settle.ts';
import { SlowLine } from './slow-line.ts';
import { makeChats, makePeople, type Stage } from './stage.ts';
import { Tally } from './tally.ts';
import { Traffic } from './traffic.ts';
import type { Endpoints, Scene, Trial } from './trial.ts';

export interface RunParts<S extends string> {
  readonly engine: EngineName;
  readonly seed: number;
  /** How long people write, at the least. */
  readonly ms: number;
  readonly settings: Readonly<Record<S, number>>;
  /** Whether the database waits for the disk. */
  readonly fsync: boolean;
  readonly outOfTime: AbortSignal;
  readonly progress: (line: string) => void;
}

export interface RunResult {
  readonly tally: Tally;
  readonly starts: Nodes['counts'];
  readonly seconds: number;
  /** Of these, how long everything took to arrive once all was well. */
  readonly settleSeconds: number;
  readonly evidence: TrialEvidence;
  readonly verdict: TrialVerdict;
  readonly readers: readonly Reader[];
  /** When each message was acknowledged. */
  readonly times: ReadonlyMap<number, number>;
  readonly broken: readonly string[];
  /** What the nodes logged about what should not happen. */
  readonly faults: readonly string[];
}

/** Bytes a second that reach the slow reader. */
const snailsPace = 20_000;

/** Messages that are acknowledged before a run ends, however long that takes: fewer would prove little. */
export const leastMessages = 100;

/** Sets the stage, has people write while something goes wrong, waits until all is quiet, and checks. */
export async function runTrial<S extends string>(trial: Trial<S>, parts: RunParts<S>): Promise<RunResult> {
  const { engine, seed, ms, settings, outOfTime, progress } = parts;
  const began = performance.now();
  const since = (start: number) => (performance.now() - start) / 1_000;
  const tally = new Tally();
  await using ends = new AsyncDisposableStack();
  const servers = await startServers(trial, parts, ends, outOfTime);
  const { nodes, environments, endpoints } = servers;
  const slowLine = ends.use(new SlowLine(snailsPace, stream(seed, 'slow line')));
  await slowLine.lay();
  const { stage, hooks } = await setStage(environments[0] ?? {}, urlOf(nodes), endpoints);
  const calls = new Calls(nodes, stream(seed, 'nodes'));
  const traffic = new Traffic({ seed, stage, calls });
  const readers = makeReaders({ seed, stage, nodes, calls, slowLine });
  const pagers = [stage.groups[0], stage.channels[0]].map((chat) => new Pager(calls, stage.owner, chat));
  const scene: Scene = { seed, engine, ms, ...servers, stage, calls, traffic, tally };

  const over = new AbortController();
  const end = AbortSignal.any([outOfTime, over.signal]);
  const written = new AbortController();
  const paging = Promise.all(pagers.map((pager) => pager.run(AbortSignal.any([end, written.signal]))));
  const busy = Promise.all([traffic.run(end), paging, ...readers.map((reader) => reader.run(end))]);
  const ticking = setInterval(() => progress(describe(since(began), nodes, traffic, readers)), 1_000);
  let wellAgain = began;
  let evidence: TrialEvidence;
  try {
    const [judge] = await Promise.all([
      trial.wreak(scene, settings, outOfTime),
      pause(ms, outOfTime),
      untilEnoughHappened(traffic, readers, outOfTime),
    ]);
    wellAgain = performance.now();
    slowLine.mend();
    await traffic.finish();
    written.abort();
    await paging;
    for (const pager of pagers) await pager.finish(outOfTime);
    const url = urlOf(nodes);
    const left = await settleHooks(hooks, { url, isHurried: trial.isHurried ?? false, tally }, outOfTime);
    const found = await find(stage, traffic, hooks, url);
    const streams = await settleStreams(readers, url, outOfTime);
    evidence = { ...found, streams, pages: pagers.map(({ paged }) => paged), answers: calls.answers };
    for (const line of [...left, ...(judge?.(evidence) ?? [])]) tally.breach(line);
  } finally {
    over.abort();
    clearInterval(ticking);
    await busy;
  }
  if (outOfTime.aborted) tally.breach('the time was over before everything was settled');
  const verdict = checkTrial(evidence);
  return {
    tally,
    starts: nodes.counts,
    seconds: since(began),
    settleSeconds: since(wellAgain),
    evidence,
    verdict,
    readers,
    times: traffic.times,
    broken: [...verdict.broken, ...tally.broken, ...nodes.broken, ...traffic.unexpected],
    faults: nodes.faults,
  };
}

/** Webhooks are registered before there is anything to tell them, but for one of a single chat. */
async function setStage(
  environment: Readonly<Record<string, string>>,
  url: string,
  endpoints: Endpoints,
): Promise<{ stage: Stage; hooks: readonly Hook[] }> {
  const people = await makePeople(environment, url);
  const hooks = await registerHooks(people, endpoints);
  const stage = await makeChats(people);
  const one = await registerHook('one chat', stage.owner, endpoints['one chat'], { chat_id: stage.groups[0] });
  return { stage, hooks: [...hooks, one] };
}

/** Waits until enough was written, and every stream has told of something: so there is something for every webhook too. */
async function untilEnoughHappened(traffic: Traffic, readers: readonly Reader[], end: AbortSignal): Promise<void> {
  const isEnough = () => traffic.acknowledged.size >= leastMessages && readers.every(({ hasHeard }) => hasHeard);
  while (!isEnough() && !end.aborted) await pause(20, end);
}

function urlOf(nodes: Nodes): string {
  const [node] = nodes.up;
  if (!node) throw new Error('no server is up');
  return node.url;
}

function describe(seconds: number, nodes: Nodes, traffic: Traffic, readers: readonly Reader[]): string {
  const least = Math.min(...readers.map(({ cursor }) => cursor));
  const most = Math.max(...readers.map(({ cursor }) => cursor));
  const written = `${traffic.acknowledged.size} messages acknowledged`;
  return `${Math.round(seconds)} s, ${nodes.up.length} up, ${written}; streams at ${least} to ${most}`;
}
