import { attach } from '../../server/test/support/server.ts';
import { stream } from '../harness/random.ts';
import { makePeople, makeStage, type Stage } from '../harness/stage.ts';
import { pause } from '../harness/wait.ts';
import { type Registration, registerWebhook } from '../harness/webhooks.ts';
import { Calls } from './calls.ts';
import { checkRun } from './check.ts';
import type { RunEvidence } from './evidence.ts';
import type { Nodes } from './nodes.ts';
import { makePager } from './pager.ts';
import { makeReaders, type Reader } from './reader.ts';
import type { Scenario, Scene } from './scenario.ts';
import { type ServersOptions, startServers } from './servers.ts';
import { readBack, settleStreams, settleWebhooks } from './settle.ts';
import { SlowLine } from './slow-line.ts';
import { Tally } from './tally.ts';
import { Traffic } from './traffic.ts';

export interface RunOptions extends ServersOptions {
  /** The minimum time that people write. */
  readonly ms: number;
  readonly settings: Readonly<Record<string, number>>;
  /** Fires when the time is over: everything has to end then. */
  readonly outOfTime: AbortSignal;
  readonly progress: (line: string) => void;
}

export type RunResult = Awaited<ReturnType<typeof runScenario>>;

const slowBytesPerSecond = 20_000;

const writerCount = 5;
const groupCount = 4;
const channelCount = 2;

/** Messages that are acknowledged before a run ends, however long that takes: fewer would prove little. */
export const minMessages = 100;

/** Sets the stage, lets people write during a fault, waits until everything has arrived, and checks it. */
export async function runScenario(scenario: Scenario, options: RunOptions) {
  const { engine, seed, ms, settings, outOfTime, progress } = options;
  const began = performance.now();
  const secondsSince = (start: number) => (performance.now() - start) / 1_000;
  await using ends = new AsyncDisposableStack();
  const servers = await startServers(scenario, options, ends, outOfTime);
  const { nodes } = servers;
  const slowLine = ends.use(new SlowLine(slowBytesPerSecond, stream(seed, 'slow line')));
  await slowLine.open();
  const { stage, registrations } = await setStage(scenario, servers, settings);
  const calls = new Calls(nodes, stream(seed, 'nodes'));
  const traffic = new Traffic(seed, stage, calls);
  const tally = new Tally();
  const scene: Scene = { seed, engine, ms, ...servers, stage, calls, traffic, tally };
  const readers = makeReaders(scene, slowLine);
  const pagers = [stage.groups[0], stage.channels[0]].map((chat) => makePager(calls, stage.owner, chat));

  const over = new AbortController();
  const end = AbortSignal.any([outOfTime, over.signal]);
  const written = new AbortController();
  const paging = Promise.all(pagers.map((pager) => pager.run(AbortSignal.any([end, written.signal]))));
  const busy = Promise.all([traffic.run(end), paging, ...readers.map((reader) => reader.run(end))]);
  const ticking = setInterval(() => progress(describe(secondsSince(began), nodes, traffic, readers)), 1_000);
  let faultEnded = began;
  let evidence: RunEvidence;
  try {
    const [judge] = await Promise.all([
      scenario.disturb(scene, settings, outOfTime),
      pause(ms, outOfTime),
      untilEnoughHappened(traffic, readers, outOfTime),
    ]);
    faultEnded = performance.now();
    slowLine.mend();
    await traffic.finish();
    written.abort();
    await paging;
    for (const pager of pagers) await pager.finish(outOfTime);
    const left = await settleWebhooks(scene, registrations, scenario.isHurried ?? false, outOfTime);
    const found = await readBack(scene, registrations);
    const streams = await settleStreams(scene, readers, outOfTime);
    evidence = { ...found, streams, pages: pagers.map((pager) => pager.evidence), answers: calls.answers };
    for (const line of [...left, ...(judge?.(evidence) ?? [])]) tally.breach(line);
  } finally {
    over.abort();
    clearInterval(ticking);
    await busy;
  }
  if (outOfTime.aborted) tally.breach('the time was over before everything was settled');
  const verdict = checkRun(evidence);
  return {
    ...{ tally, evidence, verdict, readers, starts: nodes.counts, seconds: secondsSince(began) },
    /** The time until everything had arrived after the fault. */
    settleSeconds: secondsSince(faultEnded),
    /** When each message was acknowledged. */
    times: traffic.times,
    broken: [...verdict.broken, ...tally.broken, ...nodes.broken, ...traffic.unexpected],
    /** Log lines of the servers that report something unexpected. */
    faults: nodes.faults,
  };
}

/** Registers the webhooks before there are chats, so that they miss nothing, except for the one of a single chat. */
async function setStage(
  scenario: Scenario,
  { environments, endpoints, nodes }: Pick<Scene, 'environments' | 'endpoints' | 'nodes'>,
  settings: Readonly<Record<string, number>>,
): Promise<{ stage: Stage; registrations: readonly Registration[] }> {
  const server = await attach(nodes.first.url, { ...environments[0] });
  const people = await makePeople(server, writerCount).finally(() => server.stop());
  const register = (name: string, owner = people.owner, filter?: Registration['filter']) =>
    registerWebhook(name, owner, endpoints.get(name)?.url ?? '', filter);
  const registrations = [await register('all'), await register('guest', people.guests[0])];
  for (const name of scenario.endpoints ?? []) registrations.push(await register(name));
  const groups = scenario.groups?.(settings) ?? groupCount;
  const stage = await makeStage(people, { groups, channels: channelCount });
  registrations.push(await register('one chat', stage.owner, { chat_id: stage.groups[0] }));
  return { stage, registrations };
}

/** Waits until enough was written, and every stream has events: then there are events for every webhook too. */
async function untilEnoughHappened(traffic: Traffic, readers: readonly Reader[], end: AbortSignal): Promise<void> {
  const isEnough = () => traffic.acknowledged.size >= minMessages && readers.every(({ hasEvents }) => hasEvents);
  while (!isEnough() && !end.aborted) await pause(20, end);
}

function describe(seconds: number, nodes: Nodes, traffic: Traffic, readers: readonly Reader[]): string {
  const cursors = readers.map(({ cursor }) => cursor);
  const written = `${traffic.acknowledged.size} messages acknowledged`;
  const streams = `streams at ${Math.min(...cursors)} to ${Math.max(...cursors)}`;
  return `${Math.round(seconds)} s, ${nodes.up.length} up, ${written}; ${streams}`;
}
