import { median } from '../harness/report.ts';
import type { Sample, Window } from './trend.ts';

export type Disturbance = ReturnType<typeof disturbanceOf>;

/** A server with a core to itself only waits for its own threads. */
const maxWait = 0.2;

/** A larger growth makes every time longer. */
const maxGrowth = 0.03;

/**
 * Returns the share of its time that the server waited for its core, in the first and the last third of the window, and whether
 * others used the machine so much that times mean little. Judges the whole run if it ends before its warm-up.
 */
export function disturbanceOf(waits: readonly Sample[], window: Window) {
  const { from, to } = window.from < window.to ? window : { from: 0, to: window.to };
  const third = (to - from) / 3;
  const medianFrom = (begin: number) => {
    const within = waits.filter(({ at }) => at >= begin && at < begin + third);
    return within.length === 0 ? 0 : median(within.map(({ value }) => value));
  };
  const [first, last] = [medianFrom(from), medianFrom(to - third)];
  return { first, last, isDisturbed: last > maxWait || last > first + maxGrowth };
}
