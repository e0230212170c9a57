import { expect, test } from 'bun:test';
import { drawSchedule } from './schedule.ts';

const minute = (seed: number) => drawSchedule({ ms: 60_000, nodes: 3, crashes: 6 }, seed);

test('a seed draws the same schedule again, and another seed another', () => {
  expect(minute(1)).toEqual(minute(1));
  expect(minute(1)).not.toEqual(minute(2));
});

test('even a short one kills, stops, and takes both servers away', () => {
  for (let seed = 0; seed < 50; seed++) {
    const { nodes, nats, postgres } = drawSchedule({ ms: 12_000, nodes: 3, crashes: 1 }, seed);
    const ends = new Set(nodes.flat().map(({ ends }) => ends));
    expect(ends).toEqual(new Set(['killed', 'stopped']));
    expect(Math.min(nats.length, postgres.length)).toBeGreaterThan(0);
  }
});

test('a minute crashes the database and shuts it down in order', () => {
  for (let seed = 0; seed < 50; seed++) {
    const modes = minute(seed).postgres.map(({ mode }) => mode);
    expect(new Set(modes)).toEqual(new Set(['fast', 'immediate']));
  }
});
