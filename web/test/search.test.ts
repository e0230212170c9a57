import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { MessageRecord } from '../store/records.ts';
import { firstSince } from '../store/search.ts';
import { excerptOf, marksIn } from '../ui/marks.ts';
import { parseRoute, searchPath } from '../ui/route.ts';

const shown = (parts: ReturnType<typeof marksIn>) =>
  parts.map(({ text, isHit }) => (isHit ? `[${text}]` : text)).join('');

test('the first message since a time is found in few steps', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.integer({ min: 1, max: 100_000 }), { maxLength: 40 }),
      fc.integer({ min: 0, max: 100_001 }),
      async (ids, time) => {
        const messages = ids
          .sort((a, b) => a - b)
          .map((id) => ({ message_id: id, created_at: new Date(id).toISOString() }) as MessageRecord);
        let calls = 0;
        const found = await firstSince(time, async (id) => {
          calls++;
          return messages.findLast(({ message_id }) => message_id < (id ?? Number.POSITIVE_INFINITY));
        });
        expect(found?.message_id).toBe(ids.find((id) => id >= time));
        expect(calls).toBeLessThanOrEqual(20);
      },
    ),
  );
});

test('words are marked as the server finds them: without case and accents, the last by its start', () => {
  expect(shown(marksIn('The Café is open, cafeteria too', 'cafe open'))).toBe('The [Café] is [open], cafeteria too');
  expect(shown(marksIn('The launch is on Friday', 'launch fri'))).toBe('The [launch] is on [Friday]');
  expect(shown(marksIn('a (b) [c] <d>', '(b) <d>'))).toBe('a ([b]) [c] <[d]>');
  expect(shown(marksIn('今日は東京に行く', '東京'))).toBe('今日は[東京]に行く');
  expect(shown(marksIn('nothing', '?!'))).toBe('nothing');
});

test('an excerpt shows the first hit of a long text', () => {
  const long = `${'hay '.repeat(200)}needle ${'hay '.repeat(200)}`;
  const excerpt = shown(excerptOf(long, 'needle'));
  expect(excerpt).toContain('[needle]');
  expect(excerpt).toStartWith('…');
  expect(excerpt.length).toBeLessThan(260);
});

test('a search has a path of its own', () => {
  const search = { query: 'a&b', chatId: 3, from: 'bob', hasFile: true, before: '2026-01-31' };
  expect(parseRoute(searchPath(search))).toEqual({ name: 'search', search });
  const plain = { query: '', chatId: undefined, from: '', hasFile: false, before: '' };
  expect(parseRoute('/search')).toEqual({ name: 'search', search: plain });
});
