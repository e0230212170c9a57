/** Returns numbers from 0 up to 1. */
export type Random = () => number;

/**
 * Returns a stream of numbers that follows from the seed and its name. Streams are independent: the kills of a seed stay
 * where they are, whatever the timing of the machine does to the rest.
 */
export function stream(seed: number, name: string): Random {
  let count = 0;
  return () => Number(Bun.hash.wyhash(`${seed}/${name}/${count++}`) >> 11n) / 2 ** 53;
}

export function pick<T>(random: Random, from: readonly [T, ...T[]]): T {
  return from[Math.floor(random() * from.length)] ?? from[0];
}

/** Returns a whole number. */
export const between = (random: Random, [min, max]: readonly [min: number, max: number]): number =>
  Math.round(min + (max - min) * random());

export const shuffled = <T>(all: readonly T[], random: Random): T[] =>
  all
    .map((one) => ({ one, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ one }) => one);

/** Bytes that careless code corrupts. */
const words = [
  ...['plain', 'Grüße', '"quoted"', 'a\\b', 'line\nbreak', '日本語', '👩‍👩‍👧', '</script>'],
  ...['\u2028', 'e\u0301'],
] as [string, ...string[]];

/** Returns one to eight words. */
export const text = (random: Random): string =>
  Array.from({ length: 1 + Math.floor(random() * 8) }, () => pick(random, words)).join(' ');
