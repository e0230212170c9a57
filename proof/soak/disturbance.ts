import { median } from '../harness/report.ts';
import type { Sample, Window } from './trend.ts';

/** The share of its time that the server waited for its core, in the first and the last third of the window. */
export interface Disturbance {
  readonly first: number;
  readonly last: number;
  /** Whether others used the machine so much that times mean little. */
  readonly isDisturbed: boolean;
}

/** A server with a core to itself only waits for its own threads. */
const maxWait = 0.2;

/** A larger growth makes every time longer. */
const maxGrowth = 0.03;

/** Judges the whole run if it ends before its warm-up. */
export function disturbanceOf(waits: readonly Sample[], window: Window): Disturbance {
  const { from, to } = window.from < window.to ? window : { from: 0, to: window.to };
  const third = (to - from) / 3;
  const medianFrom = (begin: number) => {
    const within = waits.filter(({ at }) => at >= begin && at < begin + third);
    return within.length === 0 ? 0 : median(within.map(({ value }) => value));
  };
  const [first, last] = [medianFrom(from), medianFrom(to - third)];
  return { first, last, isDisturbed: last > maxWait || last > first + maxGrowth };
}
