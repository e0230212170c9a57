import { median } from '../bench/race.ts';
import type { Sample, Stretch } from './level.ts';

/** The share of its time that the server was ready to run and had to wait for its core, at both ends of what is judged. */
export interface Disturbance {
  readonly first: number;
  readonly last: number;
  /** Whether times mean little because something else had the machine. */
  readonly isDisturbed: boolean;
}

/** A server that has its core to itself waits for its own threads only. */
const usual = 0.2;

/** Waiting that grows by this much makes every time longer. */
const more = 0.03;

/** Of a run that is over before its warm-up is, the whole counts. */
export function disturbanceOf(waits: readonly Sample[], stretch: Stretch): Disturbance {
  const { from, to } = stretch.from < stretch.to ? stretch : { from: 0, to: stretch.to };
  const third = (to - from) / 3;
  const medianFrom = (begin: number) => {
    const within = waits.filter(({ at }) => at >= begin && at < begin + third);
    return within.length === 0 ? 0 : median(within.map(({ value }) => value));
  };
  const [first, last] = [medianFrom(from), medianFrom(to - third)];
  return { first, last, isDisturbed: last > usual || last > first + more };
}
