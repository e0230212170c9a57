import { natsMissing } from '../server/test/support/nats.ts';
import type { StreamCounts } from './cluster/check.ts';
import type { Answer } from './cluster/evidence.ts';
import { type RunResult, runCluster } from './cluster/run.ts';
import { drawSchedule } from './cluster/schedule.ts';
import { type Conditions, fault, type Outcome } from './fault.ts';
import { figure } from './report.ts';
import { perWebhook } from './webhooks.ts';

const nodeCount = 3;

/** Nodes, what they share and those who read come and go, while people write. */
export const cluster = fault({
  summary: 'three nodes, PostgreSQL and NATS are killed, stopped and started while people write and streams are read',
  settings: {
    traffic: { summary: 'seconds that people write', fallback: 60 },
    crashes: {
      summary: 'further crashes of PostgreSQL, one soon after the other, while all nodes are up',
      fallback: 6,
    },
  },
  inapplicable: (engine) =>
    engine === 'sqlite' ? 'It does not apply: several nodes share a PostgreSQL.' : natsMissing,
  run,
});

type Settings = Readonly<Record<'traffic' | 'crashes', number>>;

async function run({ seed, outOfTime, progress }: Conditions, settings: Settings): Promise<Outcome> {
  const ms = settings.traffic * 1_000;
  const schedule = drawSchedule({ ms, nodes: nodeCount, crashes: settings.crashes }, seed);
  const result = await runCluster({ seed, schedule, ms, fsync: true, outOfTime, progress });
  const { evidence, verdict, faults, broken } = result;
  const notes = faults.slice(0, 5).map((line) => `A node logged: ${line}`);
  const tables = [overview(result), answers(evidence.answers), perStream(result), perWebhook(evidence, verdict)];
  return { tables, notes, broken };
}

function overview({ counts, evidence, verdict }: RunResult): string[][] {
  const rows: [string, number][] = [
    [`nodes killed (of ${nodeCount})`, counts.kills],
    ['nodes stopped', counts.stops],
    ['starts of nodes', counts.starts],
    ['of these without a database to start on', counts.startsWithoutDatabase],
    ['times that NATS was away', counts.natsStops],
    ['restarts of PostgreSQL, in order', counts.fastRestarts],
    ['restarts of PostgreSQL, by a crash', counts.immediateRestarts],
    ['messages acknowledged', evidence.acknowledged.length],
    ['found again by get_messages', evidence.found.length],
    ['acknowledged and missing', verdict.missing],
    ['found and not acknowledged', verdict.extra],
    ['changes acknowledged, joins and leaves among them', evidence.changes.length],
    ['events in the log', evidence.log.length],
    ['messages and changes not in it, or too often', verdict.untold],
    ['events in a list of a user who may not see them, or missing there', verdict.misread],
    ['people in a chat that they left, or not in one that they joined', verdict.misplaced],
    ['seconds', Math.round(counts.seconds)],
    ['of these to settle at the end', Math.round(counts.settleSeconds)],
  ];
  return rows.map(([name, count]) => [name, figure(count)]);
}

const meanings: Readonly<Record<string, string>> = {
  'broken: killed': 'broken off by a node that was killed',
  'broken: stopping': 'broken off by a node that was stopping',
  'broken: up': 'broken off by a node that was well',
  'broken: ended': 'broken off by a node that ended by itself',
  'already done': 'refused because it had been done without an answer',
};

function answers(all: readonly Answer[]): string[][] {
  const counts = new Map<string, number>();
  for (const { operation, outcome } of all) {
    const kind = operation.startsWith('stream ') ? 'stream' : 'call';
    const name = `${kind}: ${meanings[outcome] ?? outcome}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [['answers', ''], ...[...counts].sort().map(([name, count]) => [name, figure(count)])];
}

const rows: Readonly<Record<keyof StreamCounts, string>> = {
  seen: 'events seen',
  lost: 'lost',
  gaps: 'gaps',
  repeats: 'repeats',
  outOfOrder: 'out of order',
  unknown: 'not in its list',
  altered: 'other bytes than in the log',
  mislabelled: 'another name than in the log',
  withoutId: 'without an id',
  signals: 'signals beside them',
};

function perStream({ readers, verdict, times }: RunResult): string[][] {
  const keys = Object.keys(rows) as (keyof StreamCounts)[];
  return [
    ['stream', ...readers.map(({ parts }) => parts.name)],
    ...keys.map((key) => [rows[key], ...readers.map(({ parts }) => figure(verdict.streams[parts.name]?.[key] ?? 0))]),
    ['connections', ...readers.map(({ counts }) => figure(counts.connections))],
    ['ended by a node that was well', ...readers.map(({ counts }) => figure(counts.endedByNode))],
    ...[0.5, 0.99, 1].map((share) => [
      `ms after the answer, ${share === 1 ? 'at most' : `${share * 100} of 100`}`,
      ...readers.map(({ blocks }) => figure(Math.round(delay(blocks, times, share)))),
    ]),
  ];
}

/** How long after a message was acknowledged it was seen, by the slowest of this share of the fastest. */
function delay(
  blocks: RunResult['readers'][number]['blocks'],
  times: ReadonlyMap<number, number>,
  share: number,
): number {
  const delays = blocks.flatMap(({ event, data, at }) => {
    if (event !== 'new_message' || data === undefined) return [];
    const sent = times.get((JSON.parse(data) as { data: { message_id: number } }).data.message_id);
    return sent === undefined ? [] : [Math.max(0, at - sent)];
  });
  return delays.sort((a, b) => a - b)[Math.max(0, Math.ceil(delays.length * share) - 1)] ?? 0;
}
