import { describe, expect, test } from 'bun:test';
import type { UserId } from '@parley/contract';
import { Pictures } from '../../files/pictures.ts';
import { png } from '../support/pictures.ts';

const [ada, bob, cyd] = [1, 2, 3] as UserId[] as [UserId, UserId, UserId];
const bytes = png(4, 4, () => [1, 2, 3]);

describe('pictures that wait to be decoded', () => {
  test('take turns by the person who asked, and stay in order for each', async () => {
    const pictures = new Pictures();
    const begun: string[] = [];
    const gate = Promise.withResolvers<void>();
    const ask = (name: string, who: UserId) =>
      pictures.thumbnail(who, async () => {
        begun.push(name);
        await gate.promise;
        return bytes;
      });
    const asked = [
      ...Array.from({ length: 20 }, (_, i) => ask(`ada ${i}`, ada)),
      ask('bob 0', bob),
      ask('bob 1', bob),
      ask('cyd 0', cyd),
    ];
    await Bun.sleep(0);
    expect(begun).toEqual(['ada 0']);
    gate.resolve();
    await Promise.all(asked);
    expect(begun.slice(0, 6)).toEqual(['ada 0', 'bob 0', 'cyd 0', 'ada 1', 'bob 1', 'ada 2']);
    expect(begun.slice(6)).toEqual(Array.from({ length: 17 }, (_, i) => `ada ${i + 3}`));
  });

  test('leave room for others, however many one person asks for', async () => {
    const pictures = new Pictures();
    const gate = Promise.withResolvers<Uint8Array>();
    const ask = (who: UserId) => pictures.thumbnail(who, () => gate.promise);
    const asked = Array.from({ length: 200 }, () => ask(ada));
    const settled = Promise.allSettled([...asked, ask(bob)]);
    gate.resolve(bytes);
    const results = await settled;
    expect(results.slice(0, 50).every(({ status }) => status === 'fulfilled')).toBe(true);
    for (const result of results.slice(50, -1)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
    }
    expect(results.at(-1)?.status).toBe('fulfilled');
    // A picture that fails frees its place.
    await expect(pictures.thumbnail(ada, () => Promise.reject(new Error('unreadable')))).rejects.toThrow('unreadable');
    expect((await pictures.thumbnail(ada, async () => bytes)).length).toBeGreaterThan(0);
  });
});
