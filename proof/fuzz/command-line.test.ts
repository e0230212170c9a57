import { expect, test } from 'bun:test';
import { type Options, readCommandLine } from './command-line.ts';
import { usualSeed } from './subject.ts';

const read = (...args: string[]) => readCommandLine(args) as Options;

test('without a word everything is tried on both databases, with the inputs of the tests', () => {
  const { suites, engines, runs, minutes, seed } = read();
  expect({ suites, engines, runs, minutes, seed }).toEqual({
    suites: ['parsers', 'http'],
    engines: ['sqlite', 'postgres'],
    runs: undefined,
    minutes: 0,
    seed: usualSeed,
  });
});

test('a suite that has no such subject is left out', () => {
  expect(read('--only', 'messages.send_message').suites).toEqual(['http']);
  expect(read('--only', 'any text is cut into words').suites).toEqual(['parsers']);
});

test('what would try nothing is refused', () => {
  const refusals = [
    [['--only', 'zzz'], 'No subject of parsers or http has "zzz" in its name'],
    [['parsers', '--only', 'messages.send_message'], 'No subject of parsers has "messages.send_message" in its name'],
    [['--runs', '0'], '--runs takes a whole number from 1 to 1000000, not 0'],
    [['--minutes', '0'], '--minutes takes a number from 0.01 to 10000, not 0'],
    [['pages'], 'There is no suite pages'],
    [['--path', 'x'], '--path takes numbers with colons between them, not x'],
    [['--database', 'mysql'], '--database takes sqlite, postgres or both, not mysql'],
  ] as const;
  for (const [args, complaint] of refusals) expect(() => read(...args)).toThrow(complaint);
});
