import type { Doubt } from './doubt.ts';
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
  readonly doubts?: readonly Doubt[];
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
  readonly doubts?: readonly Doubt[];
}

/** What could not be measured here, or went wrong. */
export interface Missing {
  readonly kind: 'skipped' | 'failed';
  readonly what: string;
  readonly why: string;
}

/** What came of a measurement. */
export type Outcome = Rates | Figure | Curve | Missing;

export const isMissing = (outcome: Outcome): outcome is Missing => 'why' in outcome;

export const doubtsAbout = (outcome: Outcome): readonly Doubt[] => (isMissing(outcome) ? [] : (outcome.doubts ?? []));

/** The same outcome with more to doubt. */
export const doubted = (outcome: Outcome, more: readonly Doubt[]): Outcome =>
  isMissing(outcome) ? outcome : { ...outcome, doubts: [...doubtsAbout(outcome), ...more] };

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

/** Whether an outcome as it stands is within its bar; undefined where there is nothing to judge. */
function isWithinBar(outcome: Outcome): boolean | undefined {
  switch (outcome.kind) {
    case 'rates':
      return outcome.bar === undefined ? undefined : outcome.ratio >= outcome.bar;
    case 'figure':
      return outcome.value <= outcome.bar;
    case 'curve':
      // One point is no curve.
      return outcome.points.length < 2 ? undefined : slowdown(outcome) <= outcome.bar;
    default:
      return undefined;
  }
}

export type Verdict = 'pass' | 'missed' | 'doubtful' | 'no room';

/** What is to be thought of an outcome; undefined where nothing is asked for, or nothing was measured. */
export function verdictOn(outcome: Outcome): Verdict | undefined {
  if (outcome.kind === 'rates' && outcome.noRoom) return 'no room';
  const isWithin = isWithinBar(outcome);
  const isOpen = doubtsAbout(outcome).some(({ looks }) => looks === 'either' || isWithin !== false);
  if (isOpen) return 'doubtful';
  return isWithin === undefined ? undefined : isWithin ? 'pass' : 'missed';
}

/** Whether an outcome reached its bar beyond doubt; undefined where nobody can say, or nothing is asked for. */
export function passed(outcome: Outcome): boolean | undefined {
  const verdict = verdictOn(outcome);
  return verdict === 'pass' ? true : verdict === 'missed' ? false : undefined;
}

/** Whether a check is content: the bar is reached beyond doubt, or there is none, or this machine has no room to tell. */
export function isInOrder(outcome: Outcome): boolean {
  const verdict = verdictOn(outcome);
  return !isMissing(outcome) && verdict !== 'missed' && verdict !== 'doubtful';
}
