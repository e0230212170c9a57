import { expect, test } from 'bun:test';
import { readCommandLine, usage } from './command-line.ts';
import { faults } from './faults.ts';

test('without a name every fault is asked for, on both databases', () => {
  const { chosen, engines } = readCommandLine([]);
  expect(chosen.map(({ name }) => name)).toEqual(Object.keys(faults));
  expect(engines).toEqual(['sqlite', 'postgres']);
});

test('a fault remembers what it was given, as one would give it again', () => {
  const { chosen, seed } = readCommandLine(['kill-server', 'sigterm', '--kills', '3', '--traffic', '4', '--seed', '5']);
  expect(chosen.map(({ options }) => options)).toEqual([' --kills 3 --traffic 4', ' --traffic 4']);
  expect(seed).toBe(5);
});

test('what there is not is refused in words', () => {
  expect(() => readCommandLine(['earthquake'])).toThrow('there is no fault earthquake');
  expect(() => readCommandLine(['sigterm', '--kills', '3'])).toThrow('--kills is no setting of sigterm');
  expect(() => readCommandLine(['sigterm', '--stops', 'many'])).toThrow('--stops takes a whole number, not many');
  expect(() => readCommandLine(['sigterm', '--database', 'mysql'])).toThrow('--database is sqlite, postgres or both');
});

test('the help names every fault and every setting', () => {
  for (const [name, { settings }] of Object.entries(faults)) {
    expect(usage).toContain(`\n${name}: `);
    for (const option of Object.keys(settings)) expect(usage).toContain(`--${option} `);
  }
});
