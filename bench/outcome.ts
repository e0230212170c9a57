import type { RaceResult } from './race.ts';

/** Another yardstick of the same run, beside the baseline. */
export interface Reference {
  readonly what: string;
  readonly perSecond: number;
  /** What Parley reached of it: the median of the rounds. */
  readonly ratio: number;
}

/** Two rates side by side. */
export interface Rates extends RaceResult {
  readonly kind: 'rates';
  readonly what: string;
  /** The least ratio that will do; undefined where nothing is asked for. */
  readonly bar: number | undefined;
  readonly notes: readonly string[];
  readonly references?: readonly Reference[];
  /** Why this machine cannot tell whether the bar is reached. */
  readonly noRoom?: readonly string[] | undefined;
}

/** One number against its limit. */
export interface Figure {
  readonly kind: 'figure';
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly bar: number;
  readonly notes?: readonly string[];
}

export interface Point {
  /** How many there are of what grows. */
  readonly x: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the server for one request, in µs. */
  readonly cpuMicros: number | undefined;
  /** The speed here as a share of that at the first point: the median of the rounds. */
  readonly ratio: number;
}

/** The same thing measured while something grows. */
export interface Curve {
  readonly kind: 'curve';
  readonly what: string;
  /** What grows: 'messages in the chat'. */
  readonly along: string;
  readonly points: readonly Point[];
  /** How many times slower it may become. */
  readonly bar: number;
  /** What it may not fall from: the first point, or the best before. More connections may well be faster than one. */
  readonly from: 'first' | 'best';
  readonly notes: readonly string[];
}

/** What could not be measured here, or went wrong. */
export interface Missing {
  readonly kind: 'skipped' | 'failed';
  readonly what: string;
  readonly why: string;
}

/** What came of a measurement. */
export type Outcome = Rates | Figure | Curve | Missing;

/** How many times slower a curve becomes, at its worst. */
export function slowdown({ points, from }: Curve): number {
  let best = points[0]?.ratio ?? Number.NaN;
  let worst = 1;
  for (const { ratio } of points) {
    if (from === 'best') best = Math.max(best, ratio);
    worst = Math.max(worst, best / ratio);
  }
  return worst;
}

/** Whether an outcome reached its bar; undefined where there is nothing to judge. */
export function passed(outcome: Outcome): boolean | undefined {
  switch (outcome.kind) {
    case 'rates':
      return outcome.bar === undefined || outcome.noRoom ? undefined : outcome.ratio >= outcome.bar;
    case 'figure':
      return outcome.value <= outcome.bar;
    case 'curve':
      return slowdown(outcome) <= outcome.bar;
    default:
      return undefined;
  }
}
