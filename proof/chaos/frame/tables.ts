import { figure } from '../report.ts';
import type { StreamCounts } from './check.ts';
import type { Answer } from './evidence.ts';
import type { RunResult } from './run.ts';

/** What happened, and what was found out beside the counts that every fault has. */
export function overview({ tally, starts, evidence, verdict, seconds, settleSeconds }: RunResult): string[][] {
  const rows: [string, number][] = [
    ['starts of servers', starts.starts],
    ['of these without a database to start on', starts.startsWithoutDatabase],
    ['acknowledged and missing', verdict.missing],
    ['found and not acknowledged', verdict.extra],
    ['changes acknowledged, joins and leaves among them', evidence.changes.length],
    ['events in the log', evidence.log.length],
    ['messages and changes not in it, or too often', verdict.untold],
    ['messages read page by page', evidence.pages.reduce((sum, { ids }) => sum + ids.length, 0)],
    ['of these passed over, twice or too late', verdict.mispaged],
    ['events in a list of a user who may not see them, or missing there', verdict.misread],
    ['people in a chat that they left, or not in one that they joined', verdict.misplaced],
    ['seconds', Math.round(seconds)],
    ['of these to settle at the end', Math.round(settleSeconds)],
  ];
  return [...tally.rows(figure), ...rows.map(([name, count]) => [name, figure(count)])];
}

const meanings: Readonly<Record<string, string>> = {
  'broken: killed': 'broken off by a server that was killed',
  'broken: stopping': 'broken off by a server that was stopping',
  'broken: up': 'broken off by a server that was well',
  'broken: ended': 'broken off by a server that ended by itself',
  'already done': 'refused because it had been done without an answer',
};

export function answersTable(all: readonly Answer[]): string[][] {
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

export function perStream({ readers, verdict, times }: RunResult): string[][] {
  const keys = Object.keys(rows) as (keyof StreamCounts)[];
  return [
    ['stream', ...readers.map(({ parts }) => parts.name)],
    ...keys.map((key) => [rows[key], ...readers.map(({ parts }) => figure(verdict.streams[parts.name]?.[key] ?? 0))]),
    ['connections', ...readers.map(({ counts }) => figure(counts.connections))],
    ['ended by a server that was well', ...readers.map(({ counts }) => figure(counts.endedByNode))],
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
