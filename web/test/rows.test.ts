import { expect, test } from 'bun:test';
import type { Unsent } from '../outbox/outbox.ts';
import type { MessageRecord } from '../store/records.ts';
import { newestPage, prepend, update } from '../store/timeline.ts';
import { firstUnreadIn, keepRows, rowsOf } from '../ui/rows.ts';
import { timeOfDay } from '../ui/time.ts';

const message = (message_id: number): MessageRecord => ({
  message_id,
  chat_id: 1,
  user_id: 2,
  content: `number ${message_id}`,
  created_at: new Date(2026, 0, 1, 12, 0, message_id).toISOString(),
  edited_at: null,
  deleted_at: null,
  reply_to: null,
  reactions: [],
  file: null,
});

test('rows that did not change stay the same objects when older messages and edits arrive', () => {
  const timeline = newestPage({ messages: [message(3), message(4), message(5)], has_more: true });
  const before = rowsOf(timeline, [], undefined, 1);
  const older = prepend(timeline, { messages: [message(1), message(2)], has_more: true });
  const edited = update(older, 5, (one) => ({ ...one, content: 'edited' }));
  const after = keepRows(before, rowsOf(edited, [], undefined, 1));
  const find = (rows: typeof before, key: string) => rows.find((row) => row.key === key);
  expect(after.map(({ key }) => key)).toEqual(['day 1', '1', '2', '3', '4', '5']);
  expect(find(after, '4')).toBe(find(before, '4') as (typeof before)[number]);
  // It follows another message now, and needs no head.
  expect(find(after, '3')).toMatchObject({ isContinued: true });
  expect(find(after, '5')).toMatchObject({ message: { content: 'edited' } });
});

test('the unread messages begin after the read marker, or are counted from the end', () => {
  const page = { messages: [message(3), { ...message(4), user_id: 1 }, message(5), message(6)], has_more: true };
  const first = (last_read_id: number | null, unread_count: number, timeline = newestPage(page)) =>
    firstUnreadIn(timeline, { last_read_id, unread_count }, 1);
  expect(first(3, 2)).toBe(5);
  expect(first(3, 0)).toBeUndefined();
  // The marker is further back than the page.
  expect(first(1, 100)).toBe(3);
  expect(first(1, 100, { ...newestPage(page), hasNewer: true })).toBeUndefined();
  expect(first(1, 100, { ...newestPage(page), hasOlder: false })).toBe(3);
  expect(first(null, 1)).toBe(6);
});

test('a narrow time has digits only', () => {
  expect(timeOfDay(new Date(2026, 0, 1, 15, 4).toISOString(), true)).toMatch(/^\d\d:04$/);
  expect(timeOfDay(new Date(2026, 0, 1, 3, 4).toISOString(), true)).toMatch(/^\d\d:04$/);
});

test('a message looks the same before and after it is sent', () => {
  const at = new Date(2026, 0, 1, 12, 0, 30).getTime();
  const unsent = (created_at: number, reply_to: number | null = null): Unsent => ({
    seq: created_at,
    key: `key ${created_at}`,
    chat_id: 1,
    content: 'mine',
    reply_to,
    created_at,
    refusal: null,
    after: 1,
  });
  const timeline = newestPage({ messages: [message(1)], has_more: true });
  const shapes = (items: readonly Unsent[], me: number) =>
    rowsOf(timeline, items, undefined, me).map((row) =>
      row.kind === 'unsent' ? `unsent${row.isContinued ? ' continued' : ''}` : row.kind,
    );
  const dayMs = 24 * 3_600_000;
  expect(shapes([unsent(at), unsent(at + 1)], 2)).toEqual([
    ...['day', 'message', 'unsent continued', 'unsent continued'],
  ]);
  expect(shapes([unsent(at), unsent(at + 1)], 3)).toEqual(['day', 'message', 'unsent', 'unsent continued']);
  expect(shapes([unsent(at, 1)], 2)).toEqual(['day', 'message', 'unsent']);
  expect(shapes([unsent(at + 600_000)], 2)).toEqual(['day', 'message', 'unsent']);
  expect(shapes([unsent(at + dayMs)], 2)).toEqual(['day', 'message', 'day', 'unsent']);
});
