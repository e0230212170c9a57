import { expect, test } from 'bun:test';
import { leapingClock } from './clock.ts';

test('the clock of a soak goes on as usual and leaps ahead by an hour at a time', () => {
  let real = 1_000_000;
  const now = leapingClock(() => real, 10_000);
  expect(now()).toBe(1_000_000);
  real += 9_999;
  expect(now()).toBe(1_009_999);
  real += 1;
  expect(now()).toBe(1_010_000 + 3_600_000);
  real += 25_000;
  expect(now()).toBe(1_035_000 + 3 * 3_600_000);
});
