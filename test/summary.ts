import { relative } from 'node:path';

/** What became of the tests of one file. */
export interface FileResult {
  readonly file: string;
  readonly seconds: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** A suite that did not run, and what to install for it. */
export interface Skipped {
  readonly name: string;
  readonly why: string;
}

/** Reads the runner's JUnit report, in which each file is a suite that holds the others. */
export function readReport(xml: string): FileResult[] {
  const results: FileResult[] = [];
  for (const [, attributes = ''] of xml.matchAll(/^ {2}<testsuite ([^>]*)>/gm)) {
    const value = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? '';
    const [tests, failed, skipped] = ['tests', 'failures', 'skipped'].map((name) => Number(value(name)));
    results.push({
      file: relative('.', value('file') || value('name')),
      seconds: Number(value('time')),
      passed: (tests ?? 0) - (failed ?? 0) - (skipped ?? 0),
      failed: failed ?? 0,
      skipped: skipped ?? 0,
    });
  }
  return results;
}

/** The lines at the end of a run: the slowest files, what was skipped and why, and the counts. */
export function summary(results: readonly FileResult[], skipped: readonly Skipped[], seconds: number): string[] {
  const sum = (key: 'passed' | 'failed' | 'skipped') => results.reduce((total, result) => total + result[key], 0);
  const slowest = [...results].sort((a, b) => b.seconds - a.seconds).slice(0, 10);
  return [
    'The slowest files:',
    ...slowest.map(({ file, seconds: taken }) => `${taken.toFixed(1).padStart(7)} s  ${file}`),
    '',
    ...skippedLines(skipped),
    `${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`,
    `in ${results.length} files and ${duration(seconds)}`,
  ];
}

function skippedLines(skipped: readonly Skipped[]): string[] {
  if (skipped.length === 0) return [];
  const byReason = Map.groupBy(skipped, ({ why }) => why);
  return [
    'Skipped:',
    ...[...byReason].map(([why, suites]) => {
      const names = [...new Set(suites.map(({ name }) => name))];
      const others = names.length > 3 ? `, and ${names.length - 3} more` : '';
      return `  ${why}\n    ${names.slice(0, 3).join('; ')}${others}`;
    }),
    '',
  ];
}

const duration = (seconds: number) =>
  seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
