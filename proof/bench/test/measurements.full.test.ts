import { beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { endWithUs, temporaryFolder } from '../../../server/test/support/cleanup.ts';
import { postgresMissing } from '../../../server/test/support/postgres.ts';
import { chooseMeasurements } from '../measurements.ts';
import { measurementNames } from '../names.ts';
import { readRecord } from '../record.ts';

/** One of each kind. The others do the same on another engine, or with more servers. */
const tried = [
  'send-sqlite',
  'cpu',
  'stored',
  'expensive-sqlite',
  'get-sqlite',
  'search-sqlite',
  'drain-sqlite',
  'streams-sqlite',
  ...(postgresMissing ? [] : ['lag-floor']),
];

/** Catches hangs, and nothing else: a measurement starts several servers, one after the other. */
const mostMs = 600_000;

/** Runs the bench, and answers what it said and recorded, and how it ended. */
async function runBench(...args: string[]) {
  const file = join(temporaryFolder(), 'figures.json');
  const command = [process.execPath, join(import.meta.dir, '../main.ts'), '--tiny', '--json', file, ...args];
  const bench = Bun.spawn(command, { stdout: 'pipe', stderr: 'ignore' });
  endWithUs(bench);
  const said = await new Response(bench.stdout).text();
  return { said, code: await bench.exited, measurements: (await readRecord(file)).measurements };
}

type Run = Awaited<ReturnType<typeof runBench>>;

function expectFigures(name: string, { said, measurements }: Run): void {
  const { outcomes = [] } = measurements[name] ?? {};
  expect(outcomes.filter((outcome) => 'why' in outcome)).toEqual([]);
  expect(outcomes).not.toBeEmpty();
  for (const { what } of outcomes) expect(said).toContain(what);
}

describe('a run of some measurements', () => {
  let run: Run;
  beforeAll(async () => {
    run = await runBench(...tried);
  }, mostMs);

  test.each(tried)('%s runs from end to end, and gives figures', (name) => expectFigures(name, run));

  test('takes no others, and ends in order', () => {
    expect(Object.keys(run.measurements).toSorted()).toEqual(tried.toSorted());
    expect(run.said).toContain('send_message, SQLite, p99 at saturation');
    expect(run.code).toBe(0);
  });
});

test(
  'a check gives figures, and ends with an error where something is doubtful, as one round alone is',
  async () => {
    const name = 'growth-connections-sqlite';
    const run = await runBench('--check', name);
    expectFigures(name, run);
    expect(run.said).toContain('DOUBTFUL: one round alone tells little');
    expect(run.code).toBe(1);
  },
  mostMs,
);

test('a name or its start chooses; nothing means all but growth, and all means all', () => {
  const names = (...asked: string[]) => chooseMeasurements(asked).map(([name]) => name);
  expect(names('send')).toEqual(['send-sqlite', 'send-postgres']);
  expect(names('growth-chats-p')).toEqual(['growth-chats-postgres']);
  expect(names()).not.toBeEmpty();
  expect(names().filter((name) => name.startsWith('growth'))).toEqual([]);
  expect(names('all')).toEqual([...measurementNames]);
  expect(() => names('nothing')).toThrow('There is no measurement named nothing');
});
