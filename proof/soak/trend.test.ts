import { describe, expect, test } from 'bun:test';
import { type Random, stream } from '../harness/random.ts';
import { type Judged, judgeTimes, judgeTrend, type Sample } from './trend.ts';

/** Half an hour with a sample every five seconds, of which the first twelve minutes do not count. */
const minutes = 30;
const window = { from: 12 * 60, to: minutes * 60 };
const toothSeconds = 10;
const tolerance = { share: 0.05, absolute: 2 };

const series = (valueAt: (minute: number) => number): Sample[] =>
  Array.from({ length: minutes * 12 }, (_, i) => ({ at: i * 5, value: valueAt(i / 12) }));

const judge = (valueAt: (minute: number) => number) =>
  judgeTrend(series(valueAt), window, toothSeconds, tolerance).verdict;

/** Around nothing, at most so far from it. */
const noise = (random: Random, most: number) => (2 * random() - 1) * most;

/** Grows by so much and falls back, once in so many minutes. */
const saw = (minute: number, period: number, height: number) => ((minute % period) / period) * height;

const draws = 100;

/** Returns the verdicts on randomly drawn figures. */
const judgeAll = (name: string, draw: (random: Random) => (minute: number) => number, one = judge) =>
  Array.from({ length: draws }, (_, seed) => one(draw(stream(seed, name))));

const all = (verdict: Judged['verdict']) => Array.from({ length: draws }, () => verdict);

describe('what must level off', () => {
  test('is level where nothing happens', () => {
    expect(judge(() => 100)).toBe('level');
    expect(judge(() => 0)).toBe('level');
  });

  test('is level under noise of a tenth', () => {
    const seen = judgeAll('noise', (random) => () => 100 + noise(random, 10));
    expect(seen).toEqual(all('level'));
  });

  test('is level where a collector draws a saw, however long its teeth are', () => {
    const seen = judgeAll('saw', (random) => {
      const period = 0.05 + random();
      return (minute) => 100 + saw(minute, period, 60) + noise(random, 2);
    });
    expect(seen).toEqual(all('level'));
  });

  test('is level where it grew while it warmed up, and settles', () => {
    expect(judge((minute) => Math.min(40 + 6 * minute, 110))).toBe('level');
    expect(judge((minute) => 110 - 70 * Math.exp(-minute / 4))).toBe('level');
  });

  test('is level where it grows by 1% in an hour, which half an hour cannot tell from nothing', () => {
    expect(judge((minute) => 100 + minute / 60)).toBe('level');
  });

  test('is level where it falls', () => {
    expect(judge((minute) => 200 - 3 * minute)).toBe('level');
  });

  test('is level where a single sample sticks out, or a single window', () => {
    expect(judge((minute) => (minute === 25 ? 900 : 100))).toBe('level');
    expect(judge((minute) => (minute > 20 && minute < 22 ? 150 : 100))).toBe('level');
  });

  test('is growing where a little is never let go of, under noise and a saw', () => {
    const seen = judgeAll('leak', (random) => {
      const period = 0.05 + random();
      // One in a minute: 18 beside some 120 while it counts.
      return (minute) => 100 + minute + saw(minute, period, 30) + noise(random, 2);
    });
    expect(seen).toEqual(all('growing'));
  });

  test('is growing where it climbs in steps', () => {
    expect(judge((minute) => 100 + 4 * Math.floor(minute / 5))).toBe('growing');
  });

  test('says from which growth on it would have seen it', () => {
    const { detectableFrom } = judgeTrend(
      series(() => 100),
      window,
      toothSeconds,
      tolerance,
    );
    const perMinute = detectableFrom / 60;
    expect(judge((minute) => 100 + perMinute * 0.9 * (minute - 21))).toBe('level');
    expect(judge((minute) => 100 + perMinute * 1.1 * (minute - 21))).toBe('growing');
  });

  test('tells the growth of an hour', () => {
    const { perHour } = judgeTrend(
      series((minute) => 100 + minute),
      window,
      toothSeconds,
      tolerance,
    );
    expect(perHour).toBeCloseTo(60);
  });

  test('is unknown where the run is too short for it', () => {
    const short = { from: 60, to: 60 + 2.9 * toothSeconds };
    expect(
      judgeTrend(
        series((minute) => minute ** 3),
        short,
        toothSeconds,
        tolerance,
      ).verdict,
    ).toBe('unknown');
    expect(judgeTrend([], window, toothSeconds, tolerance).verdict).toBe('unknown');
  });
});

describe('times', () => {
  const judgeTime = (valueAt: (minute: number) => number) =>
    judgeTimes(series(valueAt), window, { share: 0.5, absolute: 2 }).verdict;

  const jumps = (random: Random) => noise(random, 3) + (random() < 0.1 ? 200 : 0);

  test('are level where they jump about', () => {
    const seen = judgeAll('times', (random) => () => 4 + jumps(random), judgeTime);
    expect(seen).toEqual(all('level'));
  });

  test('are growing where they become twice as long, under the same jumps', () => {
    const usual = (minute: number) => 8 + (16 * Math.max(0, minute - 12)) / 18;
    const seen = judgeAll('slower', (random) => (minute) => usual(minute) + jumps(random), judgeTime);
    expect(seen).toEqual(all('growing'));
  });

  test('are unknown where there are too few', () => {
    expect(judgeTimes([], window, tolerance).verdict).toBe('unknown');
  });
});
