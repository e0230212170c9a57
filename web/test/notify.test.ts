import { describe, expect, test } from 'bun:test';
import type { UserId } from '@parley/contract';
import * as server from '@parley/server/domain/notification.ts';
import 'fake-indexeddb/auto';
import { claimNotice } from '../notify/claim.ts';
import { bodyOf, titleOf } from '../notify/notice.ts';
import { notifies } from '../notify/rules.ts';
import { openDatabase } from '../store/database.ts';
import { Persistence } from '../store/persistence.ts';
import { Store } from '../store/store.ts';

const at = Date.UTC(2026, 0, 1, 23, 30);
const hour = 3_600_000;

describe('a tab notifies', () => {
  test('of the same messages as the server', () => {
    const quietHours = [
      null,
      { from: '22:00', to: '07:00', time_zone: 'UTC' },
      { from: '23:00', to: '23:30', time_zone: 'UTC' },
      { from: '08:00', to: '09:00', time_zone: 'Asia/Tokyo' },
      { from: '09:00', to: '17:00', time_zone: 'America/New_York' },
    ];
    const outcomes = new Set<boolean>();
    for (const notify of ['all', 'mentions', 'none'] as const)
      for (const muted of [null, at - hour, at + hour])
        for (const quiet of quietHours)
          for (const isMention of [true, false]) {
            const choice = {
              ...{ user_id: 1 as UserId, notify, muted_until: muted },
              quiet_from: quiet?.from ?? null,
              quiet_to: quiet?.to ?? null,
              quiet_time_zone: quiet?.time_zone ?? null,
            };
            const message = { user_id: 2 as UserId, mentions: isMention ? [1 as UserId] : undefined };
            const expected = server.notifies(choice, message, at);
            const chat = { notify, muted_until: muted === null ? null : new Date(muted).toISOString() };
            const found = notifies(chat, isMention, quiet, at);
            expect({ choice, message, found }).toEqual({ choice, message, found: expected });
            outcomes.add(found);
          }
    expect(outcomes.size).toBe(2);
  });

  test('once among several, and rings once for what comes together', async () => {
    const [one, other] = [await openDatabase(701), await openDatabase(701)];
    const first = { chat_id: 1, message_id: 5 };
    const claims = await Promise.all([claimNotice(one, first, at), claimNotice(other, first, at)]);
    expect(claims.sort()).toEqual(['no', 'ring']);
    expect(await claimNotice(other, { chat_id: 2, message_id: 3 }, at + 1_000)).toBe('show');
    expect(await claimNotice(one, { chat_id: 1, message_id: 6 }, at + 10_000)).toBe('ring');
    expect(await claimNotice(one, { chat_id: 1, message_id: 5 }, at + 20_000)).toBe('no');
    // The clock of the machine was set back.
    expect(await claimNotice(one, { chat_id: 1, message_id: 7 }, at)).toBe('ring');
    // A server that was restored gives the ids of messages again.
    const store = new Store({ user_id: 701, name: 'ada', display_name: 'Ada', is_admin: false });
    await new Persistence(one, store, 'session', () => {}).clear();
    expect(await claimNotice(one, { chat_id: 1, message_id: 5 }, at)).toBe('ring');
  });
});

test('a notification names the author and the chat, and has the text, the file, or neither', () => {
  const base = {
    ...({ kind: 'message', chat_id: 1, message_id: 2, author_name: 'Bob' } as const),
    is_mention: false,
    sent_at: new Date(at).toISOString(),
  };
  expect([titleOf(base), titleOf({ ...base, chat_name: 'Launch' })]).toEqual(['Bob', 'Bob in Launch']);
  expect(bodyOf({ ...base, text: 'Hello', file_name: 'a.png' })).toBe('Hello');
  expect(bodyOf({ ...base, text: '', file_name: 'a.png' })).toBe('a.png');
  expect([bodyOf(base), bodyOf({ ...base, is_mention: true })]).toEqual(['New message', 'You were mentioned']);
});
