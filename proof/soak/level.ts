import { median } from '../bench/race.ts';

/** Something that was measured, and when: in seconds since the load began. */
export interface Sample {
  readonly at: number;
  readonly value: number;
}

/** How much a figure may grow while it is judged and still be level: a share of what it is, and so much besides. */
export interface Tolerance {
  readonly share: number;
  readonly absolute: number;
}

export interface Judged {
  /** `unknown`: there is too little to go by. */
  readonly verdict: 'level' | 'growing' | 'unknown';
  readonly first: number;
  readonly last: number;
  /** What is gained in an hour. */
  readonly perHour: number;
  /** The least gain in an hour that this run would have called growing. */
  readonly seenFrom: number;
}

/** The stretch that counts, in seconds since the load began. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** Blocks that a stretch is cut into where it is long enough. */
const mostBlocks = 8;

/** With fewer, two of them could rise by chance alone. */
const leastBlocks = 3;

/** Of all pairs of blocks so many more must rise than fall: what only sways does not. */
const steadiness = 0.5;

/**
 * Whether a figure has stopped growing. A garbage collector, a sweep and a pool draw saws: what is low in one moment is high
 * in the next. So the stretch is cut into blocks that are longer than a tooth, and each counts with its lowest value: what
 * cannot be let go of lifts that, and nothing else does for long. The slope is the median of the slopes of all pairs of
 * blocks (Theil–Sen), which one odd block does not move; and most of the pairs must rise (Kendall's tau).
 */
export function judgeLevel(
  samples: readonly Sample[],
  stretch: Stretch,
  toothSeconds: number,
  tolerance: Tolerance,
): Judged {
  const seconds = stretch.to - stretch.from;
  const floors = lowest(samples, stretch, Math.max(toothSeconds, seconds / mostBlocks));
  const { first, last } = endsOf(floors.length > 0 ? floors : samples);
  const level = median(floors.map(({ value }) => value));
  const allowed = Math.abs(level) * tolerance.share + tolerance.absolute;
  const slopes = pairs(floors).map(([a, b]) => (b.value - a.value) / (b.at - a.at));
  const slope = median(slopes);
  const figures = { first, last, perHour: slope * 3_600, seenFrom: (allowed / seconds) * 3_600 };
  if (floors.length < leastBlocks) return { verdict: 'unknown', ...figures };
  const tau = slopes.reduce((sum, one) => sum + Math.sign(one), 0) / slopes.length;
  return { verdict: slope * seconds > allowed && tau >= steadiness ? 'growing' : 'level', ...figures };
}

/** Where there is nothing to judge, what there is can still be shown. */
const endsOf = (samples: readonly Sample[]) => ({
  first: samples[0]?.value ?? Number.NaN,
  last: samples.at(-1)?.value ?? Number.NaN,
});

/** The lowest value of each block. A rest that is no whole block does not count. */
function lowest(samples: readonly Sample[], { from, to }: Stretch, blockSeconds: number): Sample[] {
  // Seconds in binary fractions: eight eighths may be a little less than a whole.
  const count = Math.floor((to - from) / blockSeconds + 1e-6);
  return Array.from({ length: count }, (_, i) => {
    const begin = from + i * blockSeconds;
    const within = samples.filter(({ at }) => at >= begin && at < begin + blockSeconds);
    return { at: begin + blockSeconds / 2, value: Math.min(...within.map(({ value }) => value)) };
  }).filter(({ value }) => Number.isFinite(value));
}

const pairs = (all: readonly Sample[]): [Sample, Sample][] =>
  all.flatMap((a, i) => all.slice(i + 1).map((b): [Sample, Sample] => [a, b]));

/** With fewer samples in a third its median is the chance of one. */
const leastInThird = 5;

/**
 * Whether times have stopped growing. They jump with whatever else the machine does, so that a slope says little: the median
 * of the last third of the stretch is held against that of the first.
 */
export function judgeTimes(samples: readonly Sample[], { from, to }: Stretch, tolerance: Tolerance): Judged {
  const third = (to - from) / 3;
  const medianOf = (i: number) => {
    const within = samples.filter(({ at }) => at >= from + i * third && at < from + (i + 1) * third);
    return within.length < leastInThird ? Number.NaN : median(within.map(({ value }) => value));
  };
  const [first, last] = [medianOf(0), medianOf(2)];
  const allowed = first * tolerance.share + tolerance.absolute;
  // From the middle of the first third to that of the last.
  const hours = (2 * third) / 3_600;
  const figures = { first, last, perHour: (last - first) / hours, seenFrom: allowed / hours };
  if (Number.isNaN(first) || Number.isNaN(last)) return { verdict: 'unknown', ...figures, ...endsOf(samples) };
  return { verdict: last - first > allowed ? 'growing' : 'level', ...figures };
}
