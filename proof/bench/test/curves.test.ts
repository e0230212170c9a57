import { expect, test } from 'bun:test';
import { type Curve, passed, slowdown } from '../outcome.ts';

const curve = (from: Curve['from'], ratios: readonly number[]): Curve => ({
  kind: 'curve',
  what: 'something',
  along: 'things',
  points: ratios.map((ratio, i) => ({ x: 10 ** i, perSecond: 1, p50Ms: 1, p99Ms: 1, cpuMicros: 1, ratio })),
  bar: 1.3,
  from,
  notes: [],
});

test('a curve is as slow as its slowest point, against the first', () => {
  expect(slowdown(curve('first', [1, 1.1, 0.5, 0.9]))).toBe(2);
  expect(slowdown(curve('first', [1, 4, 1]))).toBe(1);
});

test('where more may be faster, a curve is compared with the best before', () => {
  expect(slowdown(curve('best', [1, 4, 2]))).toBe(2);
  expect(slowdown(curve('best', [1, 2, 4]))).toBe(1);
});

test('a curve passes up to its bar, and one that nothing was measured of does not', () => {
  expect(passed(curve('first', [1, 0.8]))).toBe(true);
  expect(passed(curve('first', [1, 0.7]))).toBe(false);
  expect(passed(curve('first', [Number.NaN, Number.NaN]))).toBe(false);
});

test('one point is no curve, and there is no verdict on it', () => {
  expect(passed(curve('first', [1]))).toBeUndefined();
  expect(passed(curve('best', []))).toBeUndefined();
});
