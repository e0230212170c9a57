import type { Outcome } from './measurements.ts';
import type { Side } from './race.ts';

/** Whether an outcome reached its bar; undefined where there is nothing to judge. */
export function passed(outcome: Outcome): boolean | undefined {
  if (outcome.kind === 'rates') return outcome.noRoom === undefined ? outcome.ratio >= outcome.bar : undefined;
  return outcome.kind === 'figure' ? outcome.value <= outcome.bar : undefined;
}

const headings = [
  'measurement',
  'baseline/s',
  'Parley/s',
  'ratio',
  'bar',
  'baseline p50/p99 ms',
  'Parley p50/p99 ms',
  '',
];

/** The table for people. */
export function table(outcomes: readonly Outcome[]): string {
  const rows = [headings, ...outcomes.map(toRow)];
  const widths = headings.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
}

function toRow(outcome: Outcome): string[] {
  const verdict = passed(outcome) ? 'pass' : 'MISSED';
  if (outcome.kind === 'rates') {
    const { what, baseline, contender, ratio, bar } = outcome;
    const rates = [baseline, contender].map((side) => Math.round(side.perSecond).toLocaleString('en'));
    const times = [baseline, contender].map(timesOf);
    const judged = outcome.noRoom === undefined ? verdict : 'NO ROOM';
    return [what, ...rates, ratio.toFixed(2), `≥ ${bar.toFixed(2)}`, ...times, judged];
  }
  if (outcome.kind === 'figure') {
    const { what, value, unit, bar } = outcome;
    return [what, '', `${value.toPrecision(3)} ${unit}`, '', `≤ ${bar} ${unit}`, '', '', verdict];
  }
  return [outcome.what, '', '', '', '', '', '', outcome.kind.toUpperCase()];
}

const timesOf = ({ p50Ms, p99Ms }: Side) => (p99Ms > 0 ? `${p50Ms.toFixed(2)} / ${p99Ms.toFixed(2)}` : '');

/** A process above this share of its core can do no more. */
const saturated = 0.9;

/** What one has to know to believe the table. */
export function notes(outcomes: readonly Outcome[]): string {
  return outcomes
    .flatMap((outcome) => {
      if (outcome.kind === 'figure') return [];
      if (outcome.kind !== 'rates') return [`${outcome.what}: ${outcome.kind}. ${outcome.why}`];
      const { what, baseline, contender, ratios } = outcome;
      return [
        `${what}: ${[spread(ratios), ...effort(baseline, contender), ...outcome.notes, ...(outcome.noRoom ?? [])].join('; ')}`,
      ];
    })
    .map((text) => `- ${text}`)
    .join('\n');
}

const spread = (ratios: readonly number[]) => `rounds ${ratios.map((r) => r.toFixed(2)).join(' ')}`;

/** What is not made of requests has none for each. */
const effort = (baseline: Side, contender: Side): string[] =>
  baseline.cpuMicros === undefined ? [] : [cost(baseline, contender), ...doubts(baseline)];

/** Processor time for a request hardly changes when others use the machine, unlike the rates. */
function cost(baseline: Side, contender: Side): string {
  const side = ({ cpuMicros, serverBusy, loadBusy }: Side) =>
    `${cpuMicros?.toFixed(1) ?? '?'} µs (server ${percent(serverBusy)} busy, load generator ${percent(loadBusy)})`;
  const ratio = baseline.cpuMicros && contender.cpuMicros ? baseline.cpuMicros / contender.cpuMicros : undefined;
  return `CPU per request ${side(baseline)} against ${side(contender)}, a ratio of ${ratio?.toFixed(2) ?? '?'}`;
}

/** A baseline that could have done more makes the ratio look better than it is. */
function doubts({ serverBusy = 1, loadBusy = 1 }: Side): string[] {
  if (serverBusy >= saturated) return [];
  return loadBusy >= saturated
    ? ['DOUBTFUL: the load generator was the limit, the baseline is faster than this']
    : ['DOUBTFUL: others used the machine, run this again when it is quiet'];
}

const percent = (share: number | undefined) => (share === undefined ? '?' : `${Math.round(share * 100)}%`);
