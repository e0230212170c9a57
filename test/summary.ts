import { relative } from 'node:path';
import type { Failure } from './output.ts';

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

export interface Run {
  /** How many were run; one that broke has no result. */
  readonly files: number;
  readonly results: readonly FileResult[];
  readonly failures: readonly Failure[];
  readonly skipped: readonly Skipped[];
  readonly seconds: number;
}

/** Reads the runner's JUnit report, in which each file is a suite that holds the others. A file that broke is not in it. */
export function readReport(xml: string): FileResult[] {
  const results: FileResult[] = [];
  for (const [, attributes = ''] of xml.matchAll(/^ {2}<testsuite ([^>]*)>/gm)) {
    const value = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? '';
    const [tests = 0, failed = 0, skipped = 0] = ['tests', 'failures', 'skipped'].map((name) => Number(value(name)));
    results.push({
      file: relative('.', value('file') || value('name')),
      seconds: Number(value('time')),
      passed: tests - failed - skipped,
      failed,
      skipped,
    });
  }
  return results;
}

/** The lines at the end of a run: the slowest files, what was skipped and why, what failed, and last the counts. */
export function summary({ files, results, failures, skipped, seconds }: Run): string[] {
  const sum = (key: 'passed' | 'skipped') => results.reduce((total, result) => total + result[key], 0);
  const slowest = results.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10);
  return [
    ...section(
      'Slowest files',
      slowest.map(({ file, seconds: taken }) => `${taken.toFixed(1).padStart(6)} s  ${file}`),
    ),
    ...section('Skipped', skippedLines(skipped)),
    ...section('Failed', failureLines(failures)),
    `${files} ${files === 1 ? 'file' : 'files'} in ${duration(seconds)}`,
    `${sum('passed')} passed, ${failures.length} failed, ${sum('skipped')} skipped`,
  ];
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`${title}:`, ...lines, ''];

/** The number of suite names in one line. */
const namesShown = 3;

function skippedLines(skipped: readonly Skipped[]): string[] {
  return [...Map.groupBy(skipped, ({ why }) => why)].flatMap(([why, suites]) => {
    const names = [...new Set(suites.map(({ name }) => name))];
    const others = names.length > namesShown ? ` and ${names.length - namesShown} more` : '';
    return [`  ${why}`, `    ${names.slice(0, namesShown).join('; ')}${others}`];
  });
}

const failureLines = (failures: readonly Failure[]): string[] =>
  [...Map.groupBy(failures, ({ file }) => file)].flatMap(([file, tests]) => [
    `  ${file}`,
    ...tests.map(({ test }) => `    ${test}`),
  ]);

function duration(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
