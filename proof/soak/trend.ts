import { median } from '../harness/report.ts';

/** A value and when it was measured, in seconds since the load began. */
export interface Sample {
  readonly at: number;
  readonly value: number;
}

/** How much a figure may grow in the window and still be level: a share of its value, plus a constant. */
export interface Tolerance {
  readonly share: number;
  readonly absolute: number;
}

export interface Judged {
  /** `unknown`: there are too few samples. */
  readonly verdict: 'level' | 'growing' | 'unknown';
  readonly first: number;
  readonly last: number;
  readonly perHour: number;
  /** The smallest growth in an hour that this run can detect. */
  readonly detectableFrom: number;
}

/** The time that is judged, in seconds since the load began. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** A window is cut into at most so many blocks. */
const maxBlocks = 8;

/** Fewer could rise by chance alone. */
const minBlocks = 3;

/** The smallest surplus of rising pairs of blocks, as a share of all pairs. */
const steadiness = 0.5;

/**
 * Judges whether a figure has stopped growing. Garbage collectors, sweeps and pools draw sawtooth curves. So the window is
 * cut into blocks that are longer than a tooth, and each counts with its lowest value, which only a leak lifts for long. The
 * slope is the median of the slopes of all pairs of blocks (Theil–Sen), which one odd block does not move; and most pairs
 * must rise (Kendall's tau).
 */
export function judgeTrend(
  samples: readonly Sample[],
  window: Window,
  toothSeconds: number,
  tolerance: Tolerance,
): Judged {
  const seconds = window.to - window.from;
  const floors = lowest(samples, window, Math.max(toothSeconds, seconds / maxBlocks));
  const { first, last } = endsOf(floors.length > 0 ? floors : samples);
  const level = median(floors.map(({ value }) => value));
  const allowed = Math.abs(level) * tolerance.share + tolerance.absolute;
  const slopes = pairs(floors).map(([a, b]) => (b.value - a.value) / (b.at - a.at));
  const slope = median(slopes);
  const figures = { first, last, perHour: slope * 3_600, detectableFrom: (allowed / seconds) * 3_600 };
  if (floors.length < minBlocks) return { verdict: 'unknown', ...figures };
  const tau = slopes.reduce((sum, one) => sum + Math.sign(one), 0) / slopes.length;
  return { verdict: slope * seconds > allowed && tau >= steadiness ? 'growing' : 'level', ...figures };
}

/** The values to show if there is too little to judge. */
const endsOf = (samples: readonly Sample[]) => ({
  first: samples[0]?.value ?? Number.NaN,
  last: samples.at(-1)?.value ?? Number.NaN,
});

/** Returns the lowest value of each whole block. */
function lowest(samples: readonly Sample[], { from, to }: Window, blockSeconds: number): Sample[] {
  // In binary fractions eight eighths may be a little less than one.
  const count = Math.floor((to - from) / blockSeconds + 1e-6);
  return Array.from({ length: count }, (_, i) => {
    const begin = from + i * blockSeconds;
    const within = samples.filter(({ at }) => at >= begin && at < begin + blockSeconds);
    return { at: begin + blockSeconds / 2, value: Math.min(...within.map(({ value }) => value)) };
  }).filter(({ value }) => Number.isFinite(value));
}

const pairs = (all: readonly Sample[]): [Sample, Sample][] =>
  all.flatMap((a, i) => all.slice(i + 1).map((b): [Sample, Sample] => [a, b]));

/** The median of fewer samples is random. */
const minInThird = 5;

/**
 * Judges whether times have stopped growing. They jump with the load of the machine, so that a slope says little. So the
 * median of the last third of the window is compared with that of the first.
 */
export function judgeTimes(samples: readonly Sample[], { from, to }: Window, tolerance: Tolerance): Judged {
  const third = (to - from) / 3;
  const medianOf = (i: number) => {
    const within = samples.filter(({ at }) => at >= from + i * third && at < from + (i + 1) * third);
    return within.length < minInThird ? Number.NaN : median(within.map(({ value }) => value));
  };
  const [first, last] = [medianOf(0), medianOf(2)];
  const allowed = first * tolerance.share + tolerance.absolute;
  // From the middle of the first third to that of the last.
  const hours = (2 * third) / 3_600;
  const figures = { first, last, perHour: (last - first) / hours, detectableFrom: allowed / hours };
  if (Number.isNaN(first) || Number.isNaN(last)) return { verdict: 'unknown', ...figures, ...endsOf(samples) };
  return { verdict: last - first > allowed ? 'growing' : 'level', ...figures };
}
