/** Numbers from 0 up to 1. */
export type Random = () => number;

/**
 * A stream of numbers that follows from the seed and its name. What draws from one does not move the others: so the kills of
 * a seed stay where they are, whatever the machine's timing does to the rest.
 */
export function stream(seed: number, name: string): Random {
  let count = 0;
  return () => Number(Bun.hash.wyhash(`${seed}/${name}/${count++}`) >> 11n) / 2 ** 53;
}

/** One of several. */
export function pick<T>(random: Random, from: readonly [T, ...T[]]): T {
  return from[Math.floor(random() * from.length)] ?? from[0];
}
