import { describe, expect, test } from 'bun:test';
import { readReport, summary } from './summary.ts';

const report = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" tests="6" assertions="1" failures="1" skipped="2" time="1.6">
  <testsuite name="server/test/a.test.ts" file="server/test/a.test.ts" tests="4" assertions="1" failures="1" skipped="1" time="0.72">
    <testcase name="quick" classname="" time="0.000004" file="server/test/a.test.ts" line="2" assertions="0" />
    <testsuite name="group" file="server/test/a.test.ts" line="3" tests="3" assertions="1" failures="1" skipped="1" time="0.706">
    </testsuite>
  </testsuite>
  <testsuite name="cli/test/b.test.ts" file="cli/test/b.test.ts" tests="2" assertions="0" failures="0" skipped="1" time="12.5">
  </testsuite>
</testsuites>
`;

test('a report gives the counts and the time of each file, and counts nothing twice', () => {
  expect(readReport(report)).toEqual([
    { file: 'server/test/a.test.ts', seconds: 0.72, passed: 2, failed: 1, skipped: 1 },
    { file: 'cli/test/b.test.ts', seconds: 12.5, passed: 1, failed: 0, skipped: 1 },
  ]);
  expect(readReport('')).toEqual([]);
});

describe('the summary of a run', () => {
  const run = { files: 2, results: readReport(report), failures: [], skipped: [], seconds: 12.6 };

  test('ends with the counts, alone on their line', () => {
    expect(summary(run)).toEqual([
      'Slowest files:',
      '  12.5 s  cli/test/b.test.ts',
      '   0.7 s  server/test/a.test.ts',
      '',
      '2 files in 13 s',
      '3 passed, 0 failed, 2 skipped',
    ]);
    expect(summary({ files: 1, results: [], failures: [], skipped: [], seconds: 125 })).toEqual([
      '1 file in 2 min 5 s',
      '0 passed, 0 failed, 0 skipped',
    ]);
  });

  test('names what failed under its file, and counts files that broke', () => {
    const failures = [
      { file: 'a.test.ts', test: 'one' },
      { file: 'b.test.ts', test: '(worker crashed: exit code 7)' },
      { file: 'a.test.ts', test: 'group > two' },
    ];
    expect(summary({ ...run, failures }).slice(4)).toEqual([
      'Failed:',
      '  a.test.ts',
      '    one',
      '    group > two',
      '  b.test.ts',
      '    (worker crashed: exit code 7)',
      '',
      '2 files in 13 s',
      '3 passed, 3 failed, 2 skipped',
    ]);
  });

  test('says what to install for what was skipped, once for all suites that need it', () => {
    const why = 'NATS is not installed: apt-get install nats-server';
    const skipped = ['one', 'two', 'one', 'three', 'four', 'five'].map((name) => ({ name, why }));
    const other = { name: 'pages', why: 'Chromium is not installed: apt-get install chromium' };
    expect(summary({ ...run, results: [], skipped: [...skipped, other] })).toEqual([
      'Skipped:',
      `  ${why}`,
      '    one; two; three and 2 more',
      `  ${other.why}`,
      '    pages',
      '',
      '2 files in 13 s',
      '0 passed, 0 failed, 0 skipped',
    ]);
  });

  test('names the ten slowest files', () => {
    const results = [1, 8, 3, 9, 2, 11, 4, 10, 5, 6, 7, 12].map((seconds) => ({
      file: `${seconds}.test.ts`,
      seconds,
      passed: 1,
      failed: 0,
      skipped: 0,
    }));
    const named = summary({ ...run, results }).filter((line) => line.includes('.test.ts'));
    expect(named.map((line) => line.trim())).toEqual(
      [12, 11, 10, 9, 8, 7, 6, 5, 4, 3].map((seconds) => `${seconds}.0 s  ${seconds}.test.ts`),
    );
  });
});
