import { table as align, figure, percent } from '../harness/report.ts';
import { doubtsAbout, type Outcome, type Rates, slowdown, verdictOn } from './outcome.ts';
import type { Side } from './race.ts';

const headings = [
  ...['measurement', 'baseline/s', 'Parley/s', 'ratio', 'bar', 'baseline p50/p99 ms', 'Parley p50/p99 ms', ''],
];

export const table = (outcomes: readonly Outcome[]): string => align([headings, ...outcomes.map(toRow)], '');

const titleOf = (outcome: Outcome) =>
  outcome.kind === 'curve' ? `${outcome.what}, by ${outcome.along}` : outcome.what;

function toRow(outcome: Outcome): string[] {
  switch (outcome.kind) {
    case 'rates': {
      const { what, baseline, contender, ratio, bar } = outcome;
      const rates = [baseline, contender].map((side) => figure(Math.round(side.perSecond)));
      const times = [baseline, contender].map(timesOf);
      return [what, ...rates, ratio.toFixed(2), bar ? `≥ ${bar.toFixed(2)}` : '', ...times, wordFor(outcome)];
    }
    case 'figure': {
      const { what, value, unit, bar } = outcome;
      const target = bar === undefined ? '' : `≤ ${bar} ${unit}`;
      return [what, '', `${value.toPrecision(3)} ${unit}`, '', target, '', '', wordFor(outcome)];
    }
    case 'curve': {
      const { bar } = outcome;
      const slower = slowdown(outcome).toFixed(2);
      return [titleOf(outcome), '', '', `${slower}×`, `≤ ${bar}×`, '', '', wordFor(outcome)];
    }
    default:
      return [outcome.what, '', '', '', '', '', '', outcome.kind.toUpperCase()];
  }
}

/** Returns the verdict in one word, or an empty string if there is none. */
export function wordFor(outcome: Outcome): string {
  const verdict = verdictOn(outcome) ?? '';
  return verdict === 'pass' ? verdict : verdict.toUpperCase();
}

const timesOf = ({ p50Ms, p99Ms }: Side) => (p99Ms > 0 ? `${p50Ms.toFixed(2)} / ${p99Ms.toFixed(2)}` : '');

/** Returns the notes below the table. */
export function notes(outcomes: readonly Outcome[]): string {
  return outcomes
    .map((outcome) => ({ what: titleOf(outcome), said: [...remarksOn(outcome), ...doubtsIn(outcome)] }))
    .filter(({ said }) => said.length > 0)
    .map(({ what, said }) => `- ${what}: ${said.join('; ')}`)
    .join('\n');
}

/** Returns the doubtful outcomes and why they are. */
export const doubtful = (outcomes: readonly Outcome[]): string =>
  outcomes
    .filter((outcome) => doubtsAbout(outcome).length > 0)
    .map((outcome) => `- ${titleOf(outcome)}: ${whyDoubtful(outcome)}`)
    .join('\n');

const whyDoubtful = (outcome: Outcome) =>
  doubtsAbout(outcome)
    .map(({ why }) => why)
    .join('; ');

/** Also for a miss: its figure may still look better than it is. */
const doubtsIn = (outcome: Outcome): string[] => doubtsAbout(outcome).map(({ why }) => `DOUBTFUL: ${why}`);

function remarksOn(outcome: Outcome): readonly string[] {
  switch (outcome.kind) {
    case 'rates': {
      const { baseline, contender, ratios, noRoom = [] } = outcome;
      const rounds = `rounds ${ratios.map((r) => r.toFixed(2)).join(' ')}`;
      return [rounds, ...referencesOf(outcome), ...costs(baseline, contender), ...outcome.notes, ...noRoom];
    }
    case 'figure':
      return outcome.notes ?? [];
    case 'curve':
      return [...outcome.points.map((p) => `${figure(p.x)}: ${p.ratio.toFixed(2)}`), ...outcome.notes];
    default:
      return [`${outcome.kind}. ${outcome.why}`];
  }
}

const referencesOf = ({ references = [] }: Rates): string[] =>
  references.map(({ what, perSecond, ratio }) => {
    return `${ratio.toFixed(2)} of ${what} (${figure(Math.round(perSecond))}/s)`;
  });

/** Processor time for a request hardly changes when others use the machine, unlike the rates. */
function costs(baseline: Side, contender: Side): string[] {
  // Only requests have a cost each.
  if (baseline.cpuMicros === undefined) return [];
  const busy = (share: number | undefined) => (share === undefined ? '?' : percent(share));
  const side = ({ cpuMicros, serverBusy, loadBusy }: Side) =>
    `${cpuMicros?.toFixed(1) ?? '?'} µs (server ${busy(serverBusy)} busy, load generator ${busy(loadBusy)})`;
  const ratio = baseline.cpuMicros && contender.cpuMicros ? baseline.cpuMicros / contender.cpuMicros : undefined;
  return [`CPU per request ${side(baseline)} against ${side(contender)}, a ratio of ${ratio?.toFixed(2) ?? '?'}`];
}
