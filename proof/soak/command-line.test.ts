import { expect, test } from 'bun:test';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../server/test/support/cleanup.ts';
import { type Options, readCommandLine } from './command-line.ts';

const read = (...args: string[]) => readCommandLine(args) as Options;

test('without a word it loads SQLite for half an hour', () => {
  const { engine, minutes, sendsPerSecond, json } = read();
  expect({ engine, minutes, sendsPerSecond }).toEqual({ engine: 'sqlite', minutes: 30, sendsPerSecond: 200 });
  expect(json).toEndWith('soak/results/sqlite.json');
});

test('what cannot be meant is refused, with what may be', () => {
  expect(() => read('--minutes', '0')).toThrow('--minutes takes a number from 0.01 to 10000, not 0');
  expect(() => read('--rate', 'fast')).toThrow('--rate takes a number from 1 to 10000, not fast');
  expect(() => read('--database', 'both')).toThrow('--database takes sqlite or postgres, not both');
  expect(() => read('now')).toThrow('now is one word too many');
});

test('figures that could not be written are refused before there are any', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'file');
  writeFileSync(file, 'as it was');
  expect(() => read('--json', folder)).toThrow(`--json takes a file that can be written, not ${folder} (EISDIR)`);
  expect(() => read('--json', join(file, 'below'))).toThrow('--json takes a file that can be written');
  expect(read('--json', file).json).toBe(file);
  expect(readFileSync(file, 'utf8')).toBe('as it was');
  const fresh = join(folder, 'new', 'figures.json');
  expect(read('--json', fresh).json).toBe(fresh);
  expect(existsSync(fresh)).toBeFalse();
});
