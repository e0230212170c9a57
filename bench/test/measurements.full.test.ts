import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseMeasurements } from '../measurements.ts';
import { measurementNames } from '../names.ts';
import { readRecord } from '../record.ts';

/** One of each kind. The others do the same on another engine, or with more servers. */
const tried = [
  'send-sqlite',
  'get-sqlite',
  'search-sqlite',
  'drain-sqlite',
  'streams-sqlite',
  'growth-connections-sqlite',
];

test('measurements run from end to end, and each gives figures', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-test-'));
  try {
    const file = join(folder, 'figures.json');
    const command = [process.execPath, join(import.meta.dir, '../main.ts'), '--tiny', '--json', file, ...tried];
    const bench = Bun.spawn(command, { stdout: 'pipe', stderr: 'ignore' });
    const said = await new Response(bench.stdout).text();
    const { measurements } = await readRecord(file);
    const wrong = Object.values(measurements).flatMap(({ outcomes }) => outcomes.filter((o) => 'why' in o));
    expect(wrong).toEqual([]);
    expect(await bench.exited).toBe(0);
    expect(Object.keys(measurements)).toEqual(tried);
    for (const { outcomes } of Object.values(measurements)) expect(outcomes).not.toBeEmpty();
    expect(said).toContain('send_message, SQLite, p99 at half load');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a check ends with an error where something is doubtful, as one round alone is', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-test-'));
  try {
    const options = ['--tiny', '--check', '--json', join(folder, 'figures.json')];
    const command = [process.execPath, join(import.meta.dir, '../main.ts'), ...options, 'growth-connections-sqlite'];
    const bench = Bun.spawn(command, { stdout: 'pipe', stderr: 'ignore' });
    const said = await new Response(bench.stdout).text();
    expect(said).toContain('DOUBTFUL: one round alone tells little');
    expect(await bench.exited).toBe(1);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a name or its start chooses; nothing means all but growth, and all means all', () => {
  const names = (...asked: string[]) => chooseMeasurements(asked).map(([name]) => name);
  expect(names('send')).toEqual(['send-sqlite', 'send-postgres']);
  expect(names('growth-chats-p')).toEqual(['growth-chats-postgres']);
  expect(names()).not.toBeEmpty();
  expect(names().filter((name) => name.startsWith('growth'))).toEqual([]);
  expect(names('all')).toEqual([...measurementNames]);
  expect(() => names('nothing')).toThrow('There is no measurement named nothing');
});
