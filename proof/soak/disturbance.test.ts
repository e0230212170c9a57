import { expect, test } from 'bun:test';
import { disturbanceOf } from './disturbance.ts';

const window = { from: 60, to: 360 };
const judge = (waitAt: (at: number) => number) =>
  disturbanceOf(
    Array.from({ length: 72 }, (_, i) => ({ at: i * 5, value: waitAt(i * 5) })),
    window,
  ).isDisturbed;

test('a server that waits as much for its core at the end as before is not disturbed', () => {
  expect(judge(() => 0.05)).toBeFalse();
  expect(judge((at) => (at < 60 ? 0.9 : 0.05))).toBeFalse();
  expect(judge((at) => (at === 300 ? 0.9 : 0.05))).toBeFalse();
});

test('a server that waits longer and longer for its core is disturbed, and so is one that waits a lot', () => {
  expect(judge((at) => 0.05 + at / 3_600)).toBeTrue();
  expect(judge(() => 0.4)).toBeTrue();
});

test('where nothing is known nothing is said', () => {
  expect(disturbanceOf([], window)).toEqual({ first: 0, last: 0, isDisturbed: false });
});
