import { deliveryCounts } from '../harness/check.ts';
import { figure, percent, sum, table } from '../harness/report.ts';
import { type Disturbance, disturbanceOf } from './disturbance.ts';
import { type Figure, type FigureName, figures, rowFigure } from './figures.ts';
import type { SoakResult } from './run.ts';
import type { Judged, Sample } from './trend.ts';

/** A figure and its verdict. */
export interface Row extends Omit<Judged, 'verdict'> {
  readonly what: string;
  readonly unit: string;
  /** `disturbed`: a time grew, and others used the machine. */
  readonly verdict: Judged['verdict'] | 'disturbed';
}

type Watched = Pick<SoakResult, 'watch' | 'plan' | 'seconds'>;

const disturbanceIn = ({ watch, plan, seconds }: Watched): Disturbance =>
  disturbanceOf(watch.waits, { from: plan.warmUpSeconds, to: seconds });

/** Returns all figures in the order of the table. */
export function judge({ watch, plan, seconds, sendsPerSecond }: Watched & Pick<SoakResult, 'sendsPerSecond'>): Row[] {
  const { isDisturbed } = disturbanceIn({ watch, plan, seconds });
  const row = (what: string, figure: Figure, samples: readonly Sample[]): Row => {
    const judged = figure.judge(samples, { from: plan.warmUpSeconds, to: seconds }, sendsPerSecond);
    const isDoubtful = judged.verdict === 'growing' && figure.isTime && isDisturbed;
    return { what, unit: figure.unit, ...judged, verdict: isDoubtful ? 'disturbed' : judged.verdict };
  };
  return [
    ...[...watch.figures]
      .filter(([, samples]) => samples.length > 0)
      .map(([name, samples]: [FigureName, Sample[]]) => row(name, figures[name], samples)),
    ...[...watch.rows].map(([name, samples]) => row(name, rowFigure, samples)),
  ];
}

const headings = ['', 'first', 'last', 'per hour', 'detectable from', 'verdict'];

/** Formats small values with a digit, large ones without. */
const short = (value: number): string => {
  if (!Number.isFinite(value)) return '–';
  return Math.abs(value) < 100 ? String(Math.round(value * 10) / 10) : figure(Math.round(value));
};

const verdicts = { level: 'level', growing: 'GROWING', unknown: 'too short to say', disturbed: 'DISTURBED' } as const;

export function figureTable(judged: readonly Row[]): string {
  const cells = judged.map(({ what, unit, first, last, perHour, detectableFrom, verdict }) => [
    unit === '' ? what : `${what} (${unit})`,
    short(first),
    short(last),
    perHour > 0 ? `+${short(perHour)}` : short(perHour),
    short(detectableFrom),
    verdicts[verdict],
  ]);
  return table([headings, ...cells]);
}

const inWords = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const deliveryRows = ['delivered', 'lost', 'outOfOrder', 'repeats'] as const;

const labels: Readonly<Record<keyof SoakResult['counts'], string>> = {
  leftOut: 'calls left out',
  failures: 'calls with a wrong response',
  connections: 'streams opened',
  heard: 'events heard on them',
  events: 'events in the log',
  found: 'messages found again',
};

export function countTables({ acts, counts, deliveries }: SoakResult): string {
  const names = Object.keys(deliveries);
  const delivered = deliveryRows.map((key) => [
    deliveryCounts[key],
    ...names.map((name) => figure(deliveries[name]?.[key] ?? 0)),
  ]);
  const done = Object.entries(acts).map(([name, count]) => [inWords(name), figure(count)]);
  const counted = Object.entries(labels).map(([key, what]) => [what, figure(counts[key as keyof typeof labels])]);
  return `${table(done)}\n\n${table(counted)}\n\n${table([['webhook', ...names], ...delivered])}`;
}

/** With a larger share of calls left out, the load was not the one that was asked for. */
const maxLeftOut = 0.01;

/** Returns what does not hold, as sentences. */
export function breachesOf(result: SoakResult, judged: readonly Row[]): string[] {
  const { acts, broken } = result;
  const { leftOut } = result.counts;
  const isBehind = leftOut > maxLeftOut * sum(Object.values(acts), (count) => count);
  return [
    ...judged.filter(({ verdict }) => verdict === 'growing').map(({ what }) => `${what}: does not level off`),
    ...(isBehind && !disturbanceIn(result).isDisturbed
      ? [`the server did not keep up: ${figure(leftOut)} left out`]
      : []),
    ...broken,
  ];
}

/** Returns the notes below the tables. */
export function notes(
  { plan, seconds, watch, counts }: Watched & Pick<SoakResult, 'counts'>,
  judged: readonly Row[],
): string[] {
  const minutes = (of: number) => `${(of / 60).toFixed(1)} min`;
  const unknown = judged.filter(({ verdict }) => verdict === 'unknown');
  const judgedSeconds = Math.max(0, seconds - plan.warmUpSeconds);
  const waited = disturbanceIn({ watch, plan, seconds });
  const hours = Math.floor((seconds * 1_000) / plan.leapEveryMs);
  const lines = [
    `The load lasted ${minutes(seconds)}, of which the last ${minutes(judgedSeconds)} are judged. "first" and "last" are the lowest values at both ends of that time (for times, the medians of its first and last third). A smaller growth in an hour than "detectable from" cannot be detected.`,
    `The server's clock leapt ahead by an hour every ${(plan.leapEveryMs / 1_000).toFixed(1)} s, ${hours} hours in all.`,
    `The server waited for its core during ${percent(waited.first)} of the time at first and ${percent(waited.last)} at last.`,
    waited.isDisturbed &&
      'DISTURBED: others used the machine, so its times mean little. Run it again when it is quiet.',
    counts.leftOut > 0 &&
      `${figure(counts.leftOut)} calls were left out because too many others had no response yet: the load was not steady.`,
    unknown.length > 0 &&
      `TOO SHORT for ${unknown.length} of ${judged.length} figures: it proves nothing about them. Memory takes 12 minutes (longer at a lower rate), rows 5, the rest 2.`,
  ];
  return lines.filter((line) => line !== false);
}

/** Returns the result of the run in a line. It claims no more than was judged. */
export function conclusion(broken: readonly string[], judged: readonly Pick<Row, 'verdict'>[]): string {
  if (broken.length > 0) return broken.length === 1 ? 'One thing is broken.' : `${broken.length} things are broken.`;
  const proven = judged.filter(({ verdict }) => verdict === 'level').length;
  if (proven === 0) return 'Nothing is broken; but nothing is proven about growth.';
  if (proven === judged.length) return 'Nothing is broken, and nothing grows.';
  return `Nothing is broken; but only ${proven} of ${judged.length} figures are known not to grow.`;
}

/** Returns the types of objects that have become many more since the warm-up: where to look for a leak. */
export function gained({ warm, end }: SoakResult['objects']): string[] {
  return Object.entries(end)
    .map(([kind, count]) => ({ kind, count, more: count - (warm[kind] ?? 0) }))
    .filter(({ more, count }) => more > 1_000 && more > 0.2 * count)
    .sort((a, b) => b.more - a.more)
    .slice(0, 10)
    .map(({ kind, count, more }) => `${kind}: ${figure(count)}, ${figure(more)} more than after the warm-up`);
}
