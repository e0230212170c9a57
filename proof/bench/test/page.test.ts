import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFigures } from '../../../docs/generate/performance/figures.ts';
import { parts } from '../../../docs/generate/performance/tables.ts';
import { measurementNames } from '../names.ts';
import type { Outcome } from '../outcome.ts';
import { type Record, updateRecord } from '../record.ts';

const how = { at: '2026-01-01T00:00:00.000Z', machine: 'some', seconds: 1, rounds: 5, tookSeconds: 30 };
const figure = (what: string, more: object = {}): Outcome => ({
  kind: 'figure',
  what,
  value: 1,
  unit: 's',
  bar: 2,
  ...more,
});
const doubts = [{ why: 'others were loud', looks: 'either' }];

async function page(measurements: Record['measurements']): Promise<(part: string) => string> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-test-'));
  try {
    const file = join(folder, 'figures.json');
    await updateRecord(file, measurements);
    const figures = await readFigures(file);
    return (part) => parts[part]?.(figures) ?? '';
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('what was never measured is missing on the page, beside what was skipped', async () => {
  const skipped: Outcome = { kind: 'skipped', what: 'the other', why: 'not installed' };
  const show = await page({
    'start-sqlite': { ...how, outcomes: [figure('the start')] },
    'start-postgres': { ...how, outcomes: [skipped] },
    files: { ...how, outcomes: [] },
  });
  const lines = show('missing').split('\n');
  expect(lines).toHaveLength(measurementNames.length - 1);
  expect(lines).toContain('- `files`: no result was recorded.');
  expect(lines).toContain('- `cliff`: no result was recorded.');
  expect(lines).toContain('- the other: skipped. not installed');
  expect(show('missing')).not.toContain('start-sqlite');
});

test('where everything has its figures and none is doubtful, the page says so', async () => {
  const all = measurementNames.map((name) => [name, { ...how, outcomes: [figure(name)] }]);
  const show = await page(Object.fromEntries(all));
  expect(show('missing')).toBe('None: every measurement has a result.');
  expect(show('doubts')).toBe('None.');
});

test('what is doubtful is neither passed nor missed on the page, and it says why', async () => {
  const show = await page({ 'start-sqlite': { ...how, outcomes: [figure('the start', { doubts })] } });
  expect(show('figures')).toContain('| the start | 1 s | ≤ 2 s | DOUBTFUL |');
  expect(show('doubts')).toBe('- the start: others were loud');
});

test('figures stand in the order of their names, without those that are no longer measured', async () => {
  const taken = { ...how, outcomes: [figure('x')] };
  const show = await page({ 'start-sqlite': taken, nosuch: taken, cliff: taken, 'growth-chats-sqlite': taken });
  expect([...show('took').matchAll(/`([\w-]+)`/g)].map(([, name]) => name)).toEqual([
    'cliff',
    'start-sqlite',
    'growth-chats-sqlite',
  ]);
  expect(show('took')).toEndWith('Total without growth: 1.0 minutes. Growth: 0.5 minutes.');
});
