/** Returns the value below which this share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The first samples are of a client that still fills its caches. */
const warmUpShare = 1 / 6;

/** Returns the mean of the last third of the samples in terms of the first third, after the warm-up. */
export function growth(samples: readonly number[]): number {
  const steady = samples.slice(Math.floor(samples.length * warmUpShare));
  const third = Math.max(1, Math.floor(steady.length / 3));
  return mean(steady.slice(-third)) / mean(steady.slice(0, third));
}

/** One line of the result. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** The most or the least that is good enough. */
  readonly bar?: { readonly max: number } | { readonly min: number };
  readonly notes?: readonly string[];
}

/** Returns undefined if the figure has no bar. */
export function isMet({ value, bar }: Figure): boolean | undefined {
  if (!bar) return undefined;
  return 'max' in bar ? value <= bar.max : value >= bar.min;
}
