import { startNats } from '../../server/test/support/nats.ts';
import { startPostgres } from '../../server/test/support/postgres.ts';
import { quietPort } from '../../server/test/support/quiet-port.ts';
import { pause } from '../pause.ts';
import { stream } from '../random.ts';
import { Receiver } from '../receiver.ts';
import { Calls } from './calls.ts';
import { type ClusterVerdict, checkCluster } from './check.ts';
import type { ClusterEvidence } from './evidence.ts';
import { Database, wreakHavoc } from './havoc.ts';
import { registerHook, registerHooks } from './hooks.ts';
import { find } from './look.ts';
import { Nodes } from './nodes.ts';
import type { Reader } from './reader.ts';
import { makeReaders } from './readers.ts';
import type { Schedule } from './schedule.ts';
import { settleHooks, settleStreams } from './settle.ts';
import { SlowLine } from './slow-line.ts';
import { environmentsFor, makeChats, makePeople } from './stage.ts';
import { Traffic } from './traffic.ts';

export interface RunParts {
  readonly seed: number;
  /** What goes wrong, and when. */
  readonly schedule: Schedule;
  /** How long people write, at the least. */
  readonly ms: number;
  /** Whether the database waits for the disk. */
  readonly fsync: boolean;
  readonly outOfTime: AbortSignal;
  readonly progress: (line: string) => void;
}

/** What happened, in figures. */
export interface RunCounts {
  readonly kills: number;
  readonly stops: number;
  readonly starts: number;
  readonly startsWithoutDatabase: number;
  readonly natsStops: number;
  readonly fastRestarts: number;
  readonly immediateRestarts: number;
  readonly seconds: number;
  readonly settleSeconds: number;
}

export interface RunResult {
  readonly counts: RunCounts;
  readonly evidence: ClusterEvidence;
  readonly verdict: ClusterVerdict;
  readonly readers: readonly Reader[];
  readonly times: ReadonlyMap<number, number>;
  readonly broken: readonly string[];
  /** What the nodes logged about what should not happen. */
  readonly faults: readonly string[];
}

/** Bytes a second that reach the slow reader. */
const snailsPace = 20_000;

/** Three nodes are killed, stopped and started, and what they share goes away and comes back, while people write and read. */
export async function runCluster({ seed, schedule, ms, fsync, outOfTime, progress }: RunParts): Promise<RunResult> {
  const began = performance.now();
  const since = (start: number) => (performance.now() - start) / 1_000;
  await using ends = new AsyncDisposableStack();
  const postgres = await startPostgres({ fsync });
  // Out of time it may be away.
  ends.defer(() => postgres.stop('immediate').catch(() => {}));
  const nats = await startNats();
  ends.defer(() => nats.stop());
  const environments = environmentsFor(await postgres.freshDatabase(), nats.url, schedule.nodes.length);
  const database = new Database(postgres);
  await using nodes = new Nodes({ environments, databaseLastAway: () => database.lastAway });
  await using slowLine = new SlowLine(snailsPace, stream(seed, 'slow line'));
  await slowLine.lay();
  await using all = new Receiver(await quietPort(), stream(seed, 'all'));
  await using guest = new Receiver(await quietPort(), stream(seed, 'guest'));
  await using one = new Receiver(await quietPort(), stream(seed, 'one chat'));
  for (const receiver of [all, guest, one]) await receiver.open();
  // One after the other: the first makes the tables.
  for (const number of nodes.numbers) await nodes.untilUp(number, outOfTime);

  const people = await makePeople(environments[0] ?? {}, urlOf(nodes));
  const hooks = await registerHooks(people, { all, guest });
  const stage = await makeChats(people);
  hooks.push(await registerHook('one chat', stage.owner, one, { chat_id: stage.groups[0] }));
  const calls = new Calls(nodes, stream(seed, 'nodes'));
  const traffic = new Traffic({ seed, stage, calls });
  const readers = makeReaders({ seed, stage, nodes, calls, slowLine });

  const over = new AbortController();
  const end = AbortSignal.any([outOfTime, over.signal]);
  const busy = Promise.all([traffic.run(end), ...readers.map((reader) => reader.run(end))]);
  const broken: string[] = [];
  const ticking = setInterval(() => progress(describe(since(began), nodes, traffic, readers)), 1_000);
  let wellAgain = began;
  let evidence: ClusterEvidence;
  try {
    await Promise.all([wreakHavoc({ schedule, nodes, nats, database }, outOfTime), pause(ms, outOfTime)]);
    wellAgain = performance.now();
    slowLine.mend();
    await traffic.finish();
    const url = urlOf(nodes);
    broken.push(...(await settleHooks(hooks, url, outOfTime)));
    const found = await find(stage, traffic, hooks, url);
    const streams = await settleStreams(readers, url, outOfTime);
    evidence = { ...found, streams, answers: calls.answers };
  } finally {
    over.abort();
    clearInterval(ticking);
    await busy;
  }
  if (outOfTime.aborted) broken.push('the time was over before everything was settled');
  const verdict = checkCluster(evidence);
  broken.push(...verdict.broken, ...nodes.broken, ...traffic.unexpected);
  return {
    counts: {
      ...nodes.counts,
      natsStops: schedule.nats.length,
      fastRestarts: database.counts.fast,
      immediateRestarts: database.counts.immediate,
      seconds: since(began),
      settleSeconds: since(wellAgain),
    },
    evidence,
    verdict,
    readers,
    times: traffic.times,
    broken,
    faults: nodes.faults,
  };
}

function urlOf(nodes: Nodes): string {
  const [node] = nodes.up;
  if (!node) throw new Error('no node is up');
  return node.url;
}

function describe(seconds: number, nodes: Nodes, traffic: Traffic, readers: readonly Reader[]): string {
  const { kills, stops } = nodes.counts;
  const least = Math.min(...readers.map(({ cursor }) => cursor));
  const most = Math.max(...readers.map(({ cursor }) => cursor));
  const written = `${traffic.acknowledged.size} messages acknowledged`;
  return `${Math.round(seconds)} s, ${nodes.up.length} up, ${kills} killed, ${stops} stopped, ${written}; streams at ${least} to ${most}`;
}
