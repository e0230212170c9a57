import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { doubtsAboutBaseline, doubtsAboutOthers, doubtsAboutPace } from '../doubt.ts';
import { doubtsAboutRounds } from '../measure/growth/curve.ts';
import { doubted, isInOrder, type Outcome, passed, type Rates, verdictOn } from '../outcome.ts';
import { readRecord, writeRecord } from '../record.ts';
import { notes, table } from '../report.ts';

const side = { perSecond: 1, p50Ms: 1, p99Ms: 1, serverBusy: 1, loadBusy: 0.5, cpuMicros: 1, answers: 1 };

const rates = (ratio: number, more: Partial<Rates> = {}): Rates => ({
  kind: 'rates',
  what: 'something',
  bar: 0.5,
  baseline: side,
  contender: side,
  ratio,
  ratios: [ratio],
  notes: [],
  ...more,
});

const flattering = doubtsAboutBaseline({ serverBusy: 0.5, loadBusy: 1 });
const disturbing = doubtsAboutOthers(0.5);

test('without doubt, an outcome passes or misses', () => {
  expect(verdictOn(rates(0.6))).toBe('pass');
  expect(verdictOn(rates(0.4))).toBe('missed');
  expect(verdictOn(rates(0.4, { bar: undefined }))).toBeUndefined();
  expect(verdictOn({ kind: 'figure', what: 'something', value: 3, unit: 's', bar: 2 })).toBe('missed');
  expect(verdictOn({ kind: 'figure', what: 'something', value: 3, unit: 's', bar: undefined })).toBeUndefined();
});

test('what may only look better than it is does not pass, and misses all the more', () => {
  expect(passed(rates(0.6, { doubts: flattering }))).toBeUndefined();
  expect(passed(rates(0.4, { doubts: flattering }))).toBe(false);
});

test('what others may have caused neither passes nor misses', () => {
  expect(passed(rates(0.6, { doubts: disturbing }))).toBeUndefined();
  expect(passed(rates(0.4, { doubts: disturbing }))).toBeUndefined();
  expect(verdictOn(rates(0.4, { bar: undefined, doubts: disturbing }))).toBe('doubtful');
});

test('a check is content with what reached its bar beyond doubt, and with what cannot be told here', () => {
  expect(isInOrder(rates(0.6))).toBe(true);
  expect(isInOrder(rates(0.4, { bar: undefined }))).toBe(true);
  expect(isInOrder(rates(0.4, { noRoom: ['the cores are the limit'] }))).toBe(true);
  expect(isInOrder(rates(0.4))).toBe(false);
  expect(isInOrder(doubted(rates(0.6), disturbing))).toBe(false);
  expect(isInOrder({ kind: 'skipped', what: 'something', why: 'not here' })).toBe(false);
});

test('a baseline with its core for itself, others who are quiet and a rate that is kept leave no doubt', () => {
  expect(doubtsAboutBaseline({ serverBusy: 0.95, loadBusy: 1 })).toEqual([]);
  expect(doubtsAboutBaseline({ serverBusy: undefined, loadBusy: undefined })).toEqual([]);
  expect(doubtsAboutBaseline({ serverBusy: 0.5, loadBusy: undefined }).map(({ looks }) => looks)).toEqual(['either']);
  expect(doubtsAboutOthers(0.01)).toEqual([]);
  expect(doubtsAboutOthers(undefined)).toEqual([]);
  expect(doubtsAboutPace('it', 99, 100)).toEqual([]);
  expect(doubtsAboutPace('it', 80, 100)).toHaveLength(1);
});

test('rounds on both sides of the bar leave a curve in doubt, and of many one on either side does not count', () => {
  const same = (count: number) => Array.from({ length: count }, () => 1);
  const doubts = (...rounds: number[]) => doubtsAboutRounds([same(rounds.length), rounds], 'first').length;
  expect(doubts(0.9, 1, 2)).toBe(0);
  expect(doubts(0.7, 1, 1)).toBe(1);
  expect(doubts(0.2, 0.5, 0.7)).toBe(0);
  expect(doubts(0.2, ...same(8))).toBe(0);
  expect(doubts(0.2, 0.2, ...same(7))).toBe(1);
  expect(doubts(1, ...same(8).map(() => 0.5))).toBe(0);
  expect(doubts(1)).toBe(1);
});

test('a curve that may become faster is in doubt where it may have fallen from its best', () => {
  const doubts = (from: 'first' | 'best') =>
    doubtsAboutRounds([same, [2, 2, 2], [1.9, 1.2, 1.8]], from).map(({ looks }) => looks);
  const same = [1, 1, 1];
  expect(doubts('first')).toEqual([]);
  expect(doubts('best')).toEqual(['either']);
});

test('doubt is in the table, in the notes and in the file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-test-'));
  try {
    const outcomes: Outcome[] = [rates(0.6, { doubts: disturbing })];
    expect(table(outcomes)).toContain('DOUBTFUL');
    expect(table(outcomes)).not.toContain('pass');
    expect(notes(outcomes)).toContain('others took 50% of the cores');
    const file = join(folder, 'figures.json');
    const how = { at: '', machine: '', seconds: 1, rounds: 1, tookSeconds: 1 };
    await writeRecord(file, { one: { ...how, outcomes } });
    const [written] = (await readRecord(file)).measurements.one?.outcomes ?? [];
    expect(written).toMatchObject({ verdict: 'doubtful', doubts: [{ looks: 'either' }] });
    expect(written?.passed).toBeUndefined();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
