import { expect, test } from 'bun:test';
import { conclusion } from './report.ts';

const level = { verdict: 'level' } as const;
const unknown = { verdict: 'unknown' } as const;

test('only a run that has judged everything says that nothing grows', () => {
  expect(conclusion([], [level, level])).toBe('Nothing is broken, and nothing grows.');
  expect(conclusion([], [level, unknown, { verdict: 'disturbed' }])).toBe(
    'Nothing is broken; but only 1 of 3 figures are known not to grow.',
  );
});

test('one that was too short for everything says that it proves nothing about growth', () => {
  expect(conclusion([], [unknown, unknown])).toBe('Nothing is broken; but nothing is proven about growth.');
  expect(conclusion([], [])).toBe('Nothing is broken; but nothing is proven about growth.');
});

test('what is broken is told before anything else', () => {
  expect(conclusion(['lost'], [level])).toBe('One thing is broken.');
});
