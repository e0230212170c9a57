import { expect, test } from 'bun:test';
import { growth, isMet, quantile } from './figures.ts';

test('a quantile is one of the values', () => {
  const values = Array.from({ length: 100 }, (_, i) => 100 - i);
  expect(quantile(values, 0.5)).toBe(51);
  expect(quantile(values, 0.95)).toBe(96);
  expect(quantile([7], 0.95)).toBe(7);
});

test('growth compares the last third with the first, without the warm-up', () => {
  expect(growth([1, 5, 10, 10, 10, 10, 10, 11, 12, 12, 12, 12])).toBeCloseTo(1.2);
  expect(growth([100, 100, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10])).toBe(1);
});

test('a bar is the least or the most', () => {
  const figure = { what: 'work', value: 8, unit: 'ms' };
  expect(isMet({ ...figure, bar: { max: 8 } })).toBe(true);
  expect(isMet({ ...figure, bar: { min: 9 } })).toBe(false);
  expect(isMet(figure)).toBeUndefined();
});
