import { countEach, deliveryCounts } from '../harness/check.ts';
import { figure, sum } from '../harness/report.ts';
import { streamCounts } from './check.ts';
import type { Answer } from './evidence.ts';
import type { RunResult } from './run.ts';

type Table = string[][];

export const tablesOf = (result: RunResult): readonly Table[] => [
  overview(result),
  answersTable(result.evidence.answers),
  streamsTable(result),
  webhooksTable(result),
];

function overview({ tally, starts, evidence, verdict, seconds, settleSeconds }: RunResult): Table {
  const rows: [string, number][] = [
    ['starts of servers', starts.starts],
    ['of these without a database to start on', starts.startsWithoutDatabase],
    ['acknowledged and missing', verdict.missing],
    ['found and not acknowledged', verdict.extra],
    ['changes acknowledged, joins and leaves among them', evidence.changes.length],
    ['events in the log', evidence.log.length],
    ['messages and changes not in it, or too often', verdict.unlogged],
    ['messages read page by page', sum(evidence.pages, ({ ids }) => ids.length)],
    ['of these skipped, twice or too late', verdict.mispaged],
    ['events in a list of a user who may not see them, or missing there', verdict.misread],
    ['people in a chat that they left, or not in one that they joined', verdict.misplaced],
    ['seconds', Math.round(seconds)],
    ['of these to settle at the end', Math.round(settleSeconds)],
  ];
  return [...tally.rows, ...rows.map(([name, count]) => [name, figure(count)])];
}

const meanings: Readonly<Record<string, string>> = {
  'broken: killed': 'broken off by a server that was killed',
  'broken: stopping': 'broken off by a server that was stopping',
  'broken: running': 'broken off by a server that was well',
  'broken: ended': 'broken off by a server that ended by itself',
  'already done': 'refused because it had taken effect without a response',
};

function answersTable(all: readonly Answer[]): Table {
  const names = all.map(({ operation, outcome }) => {
    return `${operation.startsWith('stream ') ? 'stream' : 'call'}: ${meanings[outcome] ?? outcome}`;
  });
  return [['responses', ''], ...[...countEach(names)].sort().map(([name, count]) => [name, figure(count)])];
}

/** Returns a column for each name and a row for each count. */
function grid<K extends string>(
  heading: string,
  names: readonly string[],
  rows: Readonly<Record<K, string>>,
  counts: Readonly<Record<string, Readonly<Record<K, number>>>>,
): Table {
  const row = (key: K) => [rows[key], ...names.map((name) => figure(counts[name]?.[key] ?? 0))];
  return [[heading, ...names], ...(Object.keys(rows) as K[]).map(row)];
}

function webhooksTable({ evidence, verdict }: RunResult): Table {
  const names = evidence.webhooks.map(({ name }) => name);
  return grid('webhook', names, deliveryCounts, verdict.webhooks);
}

function streamsTable({ readers, verdict, times }: RunResult): Table {
  const names = readers.map(({ name }) => name);
  const delays = readers.map(({ blocks }) => delaysOf(blocks, times));
  const delay = (sorted: readonly number[], share: number) =>
    figure(Math.round(sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0));
  return [
    ...grid('stream', names, streamCounts, verdict.streams),
    ['connections', ...readers.map(({ counts }) => figure(counts.connections))],
    ['ended by a server that was well', ...readers.map(({ counts }) => figure(counts.endedByServer))],
    ['ms after the response, p50', ...delays.map((sorted) => delay(sorted, 0.5))],
    ['ms after the response, p99', ...delays.map((sorted) => delay(sorted, 0.99))],
    ['ms after the response, maximum', ...delays.map((sorted) => delay(sorted, 1))],
  ];
}

/** Returns how long after its acknowledgement each message arrived, the shortest first. */
function delaysOf(blocks: RunResult['readers'][number]['blocks'], times: ReadonlyMap<number, number>): number[] {
  const delays = blocks.flatMap(({ event, data, at }) => {
    if (event !== 'new_message' || data === undefined) return [];
    const sent = times.get((JSON.parse(data) as { data: { message_id: number } }).data.message_id);
    return sent === undefined ? [] : [Math.max(0, at - sent)];
  });
  return delays.sort((a, b) => a - b);
}
