import { describe, expect, test } from 'bun:test';
import type { Thread } from '@parley-chat/sdk/operations.ts';
import { joinPage, type ThreadList } from '../store/threads.ts';

const thread = (id: number, last: number, unread = 0): Thread => ({
  message: {
    message_id: id,
    chat_id: 1,
    user_id: 1,
    content: '',
    reply_to: null,
    file: null,
    reactions: [],
    created_at: '',
    edited_at: null,
    deleted_at: null,
  },
  reply_count: 1,
  last_reply_id: last,
  last_reply_at: '',
  unread_count: unread,
});
const list = (hasMore: boolean, ...threads: Thread[]): ThreadList => ({ threads, hasMore });
const page = (has_more: boolean, ...threads: Thread[]) => ({ threads, has_more });
const ids = ({ threads }: ThreadList) => threads.map(({ message }) => message.message_id);

describe('the list of threads', () => {
  test('grows by the page below it', () => {
    const known = joinPage(undefined, page(true, thread(1, 90), thread(2, 80)));
    const joined = joinPage(known, page(false, thread(3, 70)), 80);
    expect(ids(joined)).toEqual([1, 2, 3]);
    expect([known.hasMore, joined.hasMore]).toEqual([true, false]);
  });

  test('keeps what is below a new first page, and knows its end', () => {
    const known = list(false, thread(1, 90), thread(2, 80), thread(3, 70));
    const joined = joinPage(known, page(true, thread(2, 95, 1), thread(1, 90)));
    expect(ids(joined)).toEqual([2, 1, 3]);
    expect(joined.hasMore).toBe(false);
    expect(joined.threads[0]?.unread_count).toBe(1);
  });

  test('drops a thread that the page should have', () => {
    const known = list(true, thread(1, 90), thread(2, 80), thread(3, 70));
    expect(ids(joinPage(known, page(true, thread(1, 90), thread(3, 70))))).toEqual([1, 3]);
    expect(joinPage(known, page(false, thread(1, 90)))).toEqual(list(false, thread(1, 90)));
  });

  test('has a thread once, even if a reply moves it while a page is on the way', () => {
    const known = list(true, thread(3, 99), thread(1, 90), thread(2, 80));
    const joined = joinPage(known, page(true, thread(3, 70), thread(4, 60)), 80);
    expect(joined.threads.map(({ last_reply_id }) => last_reply_id)).toEqual([99, 90, 80, 60]);
    expect(joined.hasMore).toBe(true);
  });
});
