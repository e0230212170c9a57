import { residentBytes } from '../harness/machine.ts';
import type { Doubt } from './doubt.ts';
import type { RaceResult } from './race.ts';

/** A further comparison beside the baseline. */
export interface Reference {
  readonly what: string;
  readonly perSecond: number;
  /** Parley's rate as a share of it: the median of the rounds. */
  readonly ratio: number;
}

/** Two rates side by side. */
export interface Rates extends RaceResult {
  readonly kind: 'rates';
  readonly what: string;
  /** The smallest ratio that passes, if there is a bar. */
  readonly bar: number | undefined;
  readonly notes: readonly string[];
  readonly references?: readonly Reference[];
  /** Why this machine cannot show whether the bar is reached. */
  readonly noRoom?: readonly string[] | undefined;
}

/** One number against its limit. */
export interface Figure {
  readonly kind: 'figure';
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** The largest value that passes, if there is a bar. */
  readonly bar: number | undefined;
  readonly notes?: readonly string[];
  readonly doubts?: readonly Doubt[];
}

export interface Point {
  /** The size of what grows. */
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
  /** The growing quantity: 'messages in the chat'. */
  readonly along: string;
  readonly points: readonly Point[];
  /** The largest slowdown that passes. */
  readonly bar: number;
  /** The point that others are compared with: the first, or the best before, because more connections may be faster. */
  readonly from: 'first' | 'best';
  readonly notes: readonly string[];
  readonly doubts?: readonly Doubt[];
}

export interface Missing {
  readonly kind: 'skipped' | 'failed';
  readonly what: string;
  readonly why: string;
}

export type Outcome = Rates | Figure | Curve | Missing;

export const isMissing = (outcome: Outcome): outcome is Missing => 'why' in outcome;

export const doubtsAbout = (outcome: Outcome): readonly Doubt[] => (isMissing(outcome) ? [] : (outcome.doubts ?? []));

/** Returns the outcome with further doubts. */
export const doubted = (outcome: Outcome, more: readonly Doubt[]): Outcome =>
  isMissing(outcome) ? outcome : { ...outcome, doubts: [...doubtsAbout(outcome), ...more] };

/** Returns the worst slowdown of a curve. */
export function slowdown({ points, from }: Curve): number {
  let best = points[0]?.ratio ?? Number.NaN;
  let worst = 1;
  for (const { ratio } of points) {
    if (from === 'best') best = Math.max(best, ratio);
    worst = Math.max(worst, best / ratio);
  }
  return worst;
}

/** Returns undefined if there is nothing to judge. */
function isWithinBar(outcome: Outcome): boolean | undefined {
  switch (outcome.kind) {
    case 'rates':
      return outcome.bar === undefined ? undefined : outcome.ratio >= outcome.bar;
    case 'figure':
      return outcome.bar === undefined ? undefined : outcome.value <= outcome.bar;
    case 'curve':
      // One point is no curve.
      return outcome.points.length < 2 ? undefined : slowdown(outcome) <= outcome.bar;
    default:
      return undefined;
  }
}

export type Verdict = 'pass' | 'missed' | 'doubtful' | 'no room';

/** Returns undefined if there is no bar, or nothing was measured. */
export function verdictOn(outcome: Outcome): Verdict | undefined {
  if (outcome.kind === 'rates' && outcome.noRoom) return 'no room';
  const isWithin = isWithinBar(outcome);
  const isOpen = doubtsAbout(outcome).some(({ looks }) => looks === 'either' || isWithin !== false);
  if (isOpen) return 'doubtful';
  return isWithin === undefined ? undefined : isWithin ? 'pass' : 'missed';
}

/** Returns whether an outcome reached its bar beyond doubt, or undefined if that is unknown or there is no bar. */
export function passed(outcome: Outcome): boolean | undefined {
  const verdict = verdictOn(outcome);
  return verdict === 'pass' ? true : verdict === 'missed' ? false : undefined;
}

/** Returns whether `--check` passes: the bar is reached beyond doubt, or there is none, or this machine cannot show it. */
export function isInOrder(outcome: Outcome): boolean {
  const verdict = verdictOn(outcome);
  return !isMissing(outcome) && verdict !== 'missed' && verdict !== 'doubtful';
}

/** Measures the resident memory of a process. */
export function memoryOf(pid: number, what: string, bar: number, notes: readonly string[] = []): Outcome {
  const resident = residentBytes(pid);
  if (resident === undefined) return { kind: 'skipped', what, why: 'needs Linux' };
  return { kind: 'figure', what, value: resident / 1e6, unit: 'MB', bar, notes };
}
