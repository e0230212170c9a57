import { countsIn } from '../../shared/counts.ts';

export const { number, decimal, plural } = countsIn('en');

/** Units of an age, the largest that fits. */
const units = [
  [86_400, (count: number) => plural(count, { one: '# day', other: '# days' })],
  [3_600, (count: number) => `${number(count)} h`],
  [60, (count: number) => `${number(count)} min`],
  [1, (count: number) => `${number(count)} s`],
] as const;

export function age(seconds: number): string {
  const [unit, say] = units.find(([unit]) => seconds >= unit) ?? units[3];
  return say(Math.max(0, Math.floor(seconds / unit)));
}
