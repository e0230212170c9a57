import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { MessageRecord } from '../store/records.ts';
import {
  addNew,
  append,
  newestPage,
  type Page,
  prepend,
  refresh,
  type Timeline,
  trim,
  update,
} from '../store/timeline.ts';

const message = (id: number, content = `text ${id}`): MessageRecord => ({
  message_id: id,
  chat_id: 1,
  user_id: 1,
  content,
  reply_to: null,
  file: null,
  reactions: [],
  created_at: '2026-01-01T00:00:00.000Z',
  edited_at: null,
  deleted_at: null,
});

const idsOf = ({ messages }: Pick<Timeline, 'messages'>) => messages.map(({ message_id }) => message_id);

/** A chat whose messages have the ids from 1 on. */
class Chat {
  newest: number;
  constructor(newest: number) {
    this.newest = newest;
  }
  page(from: number, to: number, has_more: boolean): Page {
    const first = Math.max(1, from);
    const length = Math.max(0, Math.min(to, this.newest) - first + 1);
    return { messages: Array.from({ length }, (_, i) => message(first + i)), has_more };
  }
  latest = (limit: number) => this.page(this.newest - limit + 1, this.newest, this.newest > limit);
  before = (id: number, limit: number) => this.page(id - limit, id - 1, id - limit > 1);
  after = (id: number, limit: number) => this.page(id + 1, id + limit, id + limit < this.newest);
}

test('a timeline has no gaps and no repeats, knows its ends, and can be bounded, whatever is done to it', () => {
  const step = fc.record({
    kind: fc.constantFrom('older', 'newer', 'sent', 'refresh', 'oldest', 'newest'),
    limit: fc.integer({ min: 1, max: 9 }),
  });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 40 }), fc.array(step, { maxLength: 40 }), (count, steps) => {
      const max = 12;
      const chat = new Chat(count);
      let timeline = newestPage(chat.latest(5));
      for (const { kind, limit } of steps) {
        const [first = chat.newest + 1] = idsOf(timeline);
        if (kind === 'older' && timeline.hasOlder) timeline = prepend(timeline, chat.before(first, limit));
        if (kind === 'newer' && timeline.hasNewer) {
          timeline = append(timeline, chat.after(idsOf(timeline).at(-1) ?? 0, limit));
        }
        if (kind === 'sent') {
          chat.newest++;
          timeline = addNew(timeline, message(chat.newest));
        }
        if (kind === 'refresh' && !timeline.hasNewer) timeline = refresh(timeline, chat.latest(limit));
        if (kind === 'oldest' || kind === 'newest') timeline = trim(timeline, kind, max);
        const ids = idsOf(timeline);
        expect(ids).toEqual(Array.from({ length: ids.length }, (_, i) => (ids[0] ?? 0) + i));
        expect(timeline.hasOlder).toBe((ids[0] ?? 1) > 1);
        expect(timeline.hasNewer).toBe((ids.at(-1) ?? 0) < chat.newest);
        if (kind === 'oldest' || kind === 'newest') expect(ids.length).toBeLessThanOrEqual(max);
      }
    }),
  );
});

test('a stored timeline keeps its older part only if the newest page joins it', () => {
  const stored = newestPage({ messages: [3, 4, 5].map((id) => message(id)), has_more: true });
  expect(idsOf(refresh(stored, { messages: [5, 6].map((id) => message(id)), has_more: true }))).toEqual([3, 4, 5, 6]);
  expect(idsOf(refresh(stored, { messages: [8, 9].map((id) => message(id)), has_more: true }))).toEqual([8, 9]);
  // The newest page is newer than what was stored.
  const edited = refresh(stored, { messages: [message(5, 'edited'), message(6)], has_more: true });
  expect(edited.messages[2]?.content).toBe('edited');
});

test('messages out of order find their place, and a change of an unknown one changes nothing', () => {
  const timeline = newestPage({ messages: [1, 2, 4].map((id) => message(id)), has_more: false });
  expect(idsOf(addNew(timeline, message(3)))).toEqual([1, 2, 3, 4]);
  expect(addNew(timeline, message(2))).toBe(timeline);
  expect(update(timeline, 9, (found) => found)).toBe(timeline);
});
