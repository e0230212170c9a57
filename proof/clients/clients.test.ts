import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listOperations, unstatedRules } from '@parley/contract';
import type { z } from 'zod';
import { clients, outcomesIn, stepNames } from './clients.ts';

const programs = join(import.meta.dir, 'programs');

test('every program does every step', () => {
  const names = readdirSync(programs);
  expect(names.length).toBe(clients.length);
  for (const name of names) {
    const done = [...readFileSync(join(programs, name), 'utf8').matchAll(/\bstep\(\s*["'](\w+)["']/g)].map(
      ([, step]) => step,
    );
    expect({ name, done }).toEqual({ name, done: stepNames });
  }
});

test('the outcome of a step is in the line with its name', () => {
  expect([...outcomesIn('a warning\nsend\tok\nlist\tit failed\n')]).toEqual([
    ['send', 'ok'],
    ['list', 'it failed'],
  ]);
});

test('a rule beyond the schema is one of a field of its operation', () => {
  const fields = new Map(listOperations().map(({ name, input }) => [name, Object.keys((input as z.ZodObject).shape)]));
  for (const { of = [], field = '' } of unstatedRules) {
    for (const name of of) expect(fields.get(name)).toContain(field);
  }
});
