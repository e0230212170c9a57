import { type Outcome, passed, type Rates, slowdown } from './outcome.ts';
import type { Side } from './race.ts';

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
  switch (outcome.kind) {
    case 'rates': {
      const { what, baseline, contender, ratio, bar } = outcome;
      const rates = [baseline, contender].map((side) => Math.round(side.perSecond).toLocaleString('en'));
      const times = [baseline, contender].map(timesOf);
      return [what, ...rates, ratio.toFixed(2), bar ? `≥ ${bar.toFixed(2)}` : '', ...times, verdictOn(outcome)];
    }
    case 'figure': {
      const { what, value, unit, bar } = outcome;
      return [what, '', `${value.toPrecision(3)} ${unit}`, '', `≤ ${bar} ${unit}`, '', '', verdictOn(outcome)];
    }
    case 'curve': {
      const { what, along, bar } = outcome;
      const slower = slowdown(outcome).toFixed(2);
      return [`${what}, by ${along}`, '', '', `${slower}×`, `≤ ${bar}×`, '', '', verdictOn(outcome)];
    }
    default:
      return [outcome.what, '', '', '', '', '', '', outcome.kind.toUpperCase()];
  }
}

/** In one word; none where nothing is asked for. */
export function verdictOn(outcome: Outcome): string {
  if (outcome.kind === 'rates' && outcome.noRoom) return 'NO ROOM';
  const verdict = passed(outcome);
  return verdict === undefined ? '' : verdict ? 'pass' : 'MISSED';
}

const timesOf = ({ p50Ms, p99Ms }: Side) => (p99Ms > 0 ? `${p50Ms.toFixed(2)} / ${p99Ms.toFixed(2)}` : '');

/** Whether a baseline could have done more, so that Parley looks better than it is. */
export const isDoubtful = (outcome: Outcome): boolean => remarksOn(outcome).some((text) => text.startsWith('DOUBTFUL'));

/** A process above this share of its core can do no more. */
const saturated = 0.9;

/** What one has to know to believe the table. */
export function notes(outcomes: readonly Outcome[]): string {
  return outcomes
    .map((outcome) => ({ what: outcome.what, said: remarksOn(outcome) }))
    .filter(({ said }) => said.length > 0)
    .map(({ what, said }) => `- ${what}: ${said.join('; ')}`)
    .join('\n');
}

function remarksOn(outcome: Outcome): readonly string[] {
  switch (outcome.kind) {
    case 'rates': {
      const { baseline, contender, ratios } = outcome;
      const references = referencesOf(outcome);
      return [
        spread(ratios),
        ...references,
        ...effort(baseline, contender),
        ...outcome.notes,
        ...(outcome.noRoom ?? []),
      ];
    }
    case 'figure':
      return outcome.notes ?? [];
    case 'curve':
      return [...outcome.points.map((p) => `${p.x.toLocaleString('en')}: ${p.ratio.toFixed(2)}`), ...outcome.notes];
    default:
      return [`${outcome.kind}. ${outcome.why}`];
  }
}

const referencesOf = ({ references = [] }: Rates): string[] =>
  references.map(({ what, perSecond, ratio }) => {
    return `${ratio.toFixed(2)} of ${what} (${Math.round(perSecond).toLocaleString('en')}/s)`;
  });

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
