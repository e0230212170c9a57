import { expect, test } from 'bun:test';
import { type Options, readCommandLine, usage } from './command-line.ts';
import { faults } from './faults.ts';

const read = (...args: string[]) => readCommandLine(args) as Options;

test('without a name every fault is asked for, on both databases', () => {
  const { chosen, engines } = read();
  expect(chosen.map(({ name }) => name)).toEqual(Object.keys(faults));
  expect(engines).toEqual(['sqlite', 'postgres']);
});

test('a fault remembers what it was given, as one would give it again', () => {
  const { chosen, seed } = read('kill-server', 'sigterm', '--kills', '3', '--traffic', '4', '--seed', '5');
  expect(chosen.map(({ options }) => options)).toEqual([' --kills 3 --traffic 4', ' --traffic 4']);
  expect(seed).toBe(5);
});

test('what there is not is refused in words', () => {
  expect(() => read('earthquake')).toThrow('There is no fault earthquake');
  expect(() => read('sigterm', '--kills', '3')).toThrow('--kills is no setting of sigterm');
  expect(() => read('sigterm', '--stops', 'many')).toThrow(
    '--stops takes a whole number from 0 to 999999999, not many',
  );
  expect(() => read('sigterm', '--database', 'mysql')).toThrow('--database takes sqlite, postgres or both, not mysql');
});

test('help is answered whatever else was typed', () => {
  expect(readCommandLine(['earthquake', '--help'])).toBe('help');
  expect(readCommandLine(['-h'])).toBe('help');
});

test('the help names every fault and every setting', () => {
  for (const [name, { settings }] of Object.entries(faults)) {
    expect(usage).toContain(`\n${name}: `);
    for (const option of Object.keys(settings)) expect(usage).toContain(`--${option} `);
  }
});
