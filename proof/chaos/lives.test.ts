import { expect, test } from 'bun:test';
import { stream } from '../harness/random.ts';
import { drawLives } from './schedule.ts';

test('a seed draws the same lives again, and another seed others', () => {
  const draw = (seed: number) => drawLives(30, stream(seed, 'kills'));
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
});

test('of thirty lives some end while the server starts, some within a second, some after a lease has lapsed', () => {
  const lives = drawLives(30, stream(1, 'kills'));
  expect(lives.filter(({ since }) => since === 'start')).toHaveLength(3);
  expect(lives.filter(({ since, ms }) => since === 'healthy' && ms < 1_000)).toHaveLength(9);
  expect(lives.filter(({ ms }) => ms > 5_000)).toHaveLength(9);
});
