import { expect, test } from 'bun:test';
import { planOf } from './plan.ts';

const hoursWithin = (seconds: number, leapEveryMs: number) => (seconds * 1_000) / leapEveryMs;

test('half an hour reaches the 48 hours that answers are kept before it is judged, and sees them swept', () => {
  const { seconds, warmUpSeconds, leapEveryMs } = planOf(30);
  expect(seconds).toBe(1_800);
  expect(warmUpSeconds).toBe(720);
  expect(hoursWithin(warmUpSeconds - 60, leapEveryMs)).toBeGreaterThan(48);
});

test('a minute is warm-up and nothing else', () => {
  expect(planOf(1).warmUpSeconds).toBeGreaterThanOrEqual(planOf(1).seconds);
});

test('the day that events are kept lasts a minute at the least', () => {
  expect(planOf(0.1).leapEveryMs * 24).toBe(60_000);
});
