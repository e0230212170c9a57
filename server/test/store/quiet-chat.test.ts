import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { ChatId, EventId, MessageId, UserId } from '@parley/contract';
import { readSettings } from '../../config.ts';
import { insertUser } from '../../store/access/users.ts';
import { findChat, listChats, viewChat, viewChats } from '../../store/chat/chats.ts';
import { advanceReadMarks, insertMembers } from '../../store/chat/members.ts';
import { pageOfMessages } from '../../store/chat/messages.ts';
import type { Engine, Tx } from '../../store/engine/engine.ts';
import { openAsGuest, openStore } from '../../store/engine/open.ts';
import { visibleEvents } from '../../store/log/events.ts';
import { type Environment, freshEnvironment, onBothEngines } from '../support/engines.ts';
import { blocksRead, planning } from '../support/plans.ts';

/** The messages of the first chat are older than those of all others. */
const quiet = 1 as ChatId;
const quietCount = 60;
const chatCount = 5;
const count = 20_000;
const reader = 1 as UserId;

/** A busy chat: the reader has read all of it, one user left early, and one has just joined. */
const busy = 2 as ChatId;
const [left, late, stranger] = [3 as UserId, 4 as UserId, 5 as UserId];

async function fill(engine: Engine): Promise<void> {
  const numbers = (most: number) =>
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${most})`;
  const chat = `CASE WHEN i <= ${quietCount} THEN ${quiet} ELSE 2 + i % ${chatCount - 1} END`;
  await engine.write(async (tx) => {
    for (const name of ['reader', 'other', 'left', 'late']) {
      await insertUser(tx, { name, displayName: name, isAdmin: false, passwordHash: null, at: 0 });
    }
    await tx.run(
      `${numbers(chatCount)} INSERT INTO chats (type, visibility, name, search_key, description, created_by, created_at)
       SELECT 'group', 'private', 'Chat', 'chat', '', 2, 0 FROM n`,
    );
    await tx.run(
      `${numbers(chatCount)} INSERT INTO members (chat_id, user_id, joined_event, role, joined_at, last_read_id)
       SELECT i, ${reader}, 0, 'member', 0, CASE WHEN i = ${busy} THEN ${count} ELSE 0 END FROM n`,
    );
    await tx.run(
      `INSERT INTO members (chat_id, user_id, joined_event, left_event, role, joined_at, last_read_id)
       VALUES (${busy}, ${left}, 0, ${quietCount + 100}, 'member', 0, 0), (${busy}, ${late}, ${count - 100}, NULL, 'member', 0, 0)`,
    );
    await tx.run(
      `${numbers(count)} INSERT INTO messages (message_id, chat_id, user_id, json)
       SELECT i, ${chat}, 2, '{"message_id":' || i || '}' FROM n`,
    );
    await tx.run(
      `${numbers(count)} INSERT INTO events (event_id, chat_id, event, created_at, body)
       SELECT i, ${chat}, CASE WHEN ${chat} = ${busy} THEN 'reaction_added' ELSE 'new_message' END, 0, '{}' FROM n`,
    );
  });
  if (engine.dialect.name === 'postgres') await engine.run('VACUUM ANALYZE');
}

onBothEngines('a chat that has been quiet for long', (name) => {
  let environment: Environment;
  let engine: Engine;
  beforeAll(async () => {
    environment = await freshEnvironment(name);
    engine = await openStore(readSettings(environment), Date.now);
    await fill(engine);
  });
  afterAll(() => engine.close());

  const marks = [{ chat_id: quiet, user_id: reader, message_id: 50 as MessageId }];
  const joining = [{ user_id: 2 as UserId, role: 'member' as const, event_id: count as EventId }];
  const questions: [string, 'messages' | 'events', (tx: Tx) => Promise<unknown>][] = [
    ['its newest page', 'messages', (tx) => pageOfMessages(tx, quiet, { limit: 50 })],
    ['an older page', 'messages', (tx) => pageOfMessages(tx, quiet, { limit: 50, before: 40 })],
    ['its first page', 'messages', (tx) => pageOfMessages(tx, quiet, { limit: 50, after: 0 })],
    ['who may read it', 'events', (tx) => findChat(tx, quiet, reader)],
    ['what is unread in it', 'messages', (tx) => viewChat(tx, quiet, reader)],
    [
      'what is unread in all chats',
      'messages',
      (tx) => listChats(tx, reader, { scope: 'mine', afterId: 0, limit: 50 }),
    ],
    ['what was unread in it', 'messages', (tx) => viewChats(tx, reader, [quiet], count)],
    ['how far it has been read', 'messages', (tx) => advanceReadMarks(tx, marks)],
    ['a newcomer', 'messages', (tx) => insertMembers(tx, quiet, joining, 0)],
  ];

  test.each(questions)(
    'is read through its own messages, not through those of other chats: %s',
    async (_, table, ask) => {
      const guest = await openAsGuest(readSettings(environment));
      const { tx, plans } = planning(guest);
      await ask(tx);
      const plan = plans.join('\n');
      expect(plan).toContain(`${table}_by_chat`);
      expect(plan).not.toMatch(new RegExp(`${table}_pkey|Seq Scan on ${table}|SCAN ${table}|TEMP B-TREE FOR ORDER BY`));
      await guest.close();
    },
  );

  test('returns its messages page by page', async () => {
    const ids = async (page: Parameters<typeof pageOfMessages>[2]) => {
      const { texts, more } = await pageOfMessages(engine, quiet, page);
      const messages = JSON.parse(`[${texts}]`) as { message_id: number }[];
      return { ids: messages.map(({ message_id }) => message_id), more };
    };
    const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
    expect(await ids({ limit: 50 })).toEqual({ ids: from(11, 60), more: true });
    expect(await ids({ limit: 50, before: 11 })).toEqual({ ids: from(1, 10), more: false });
    expect(await ids({ limit: 50, after: 0 })).toEqual({ ids: from(1, 50), more: true });
    expect(await ids({ limit: 50, after: 50 })).toEqual({ ids: from(51, 60), more: false });
    expect(await ids({ limit: 50, after: 5, before: 8 })).toEqual({ ids: [6, 7], more: false });
    expect(await viewChat(engine, quiet, reader)).toMatchObject({ last_message_id: 60, unread_count: 60 });
    expect(await findChat(engine, quiet, reader, 0)).toMatchObject({ latest_event: 60 });
    expect(await findChat(engine, quiet, reader, 60)).toMatchObject({ latest_event: 60 });
    expect(await findChat(engine, quiet, reader, 61)).toMatchObject({ latest_event: null });
  });

  if (name === 'sqlite') return;
  const questionsAboutBusy: [string, (tx: Tx) => Promise<unknown>][] = [
    ['its newest page', (tx) => pageOfMessages(tx, busy, { limit: 50 })],
    ['a page between two messages', (tx) => pageOfMessages(tx, busy, { limit: 50, after: 1_000, before: 1_010 })],
    ['whether it has changed', (tx) => findChat(tx, busy, reader, count)],
    ['that nothing is unread', (tx) => viewChat(tx, busy, reader)],
    ['that nothing is unread for somebody outside', (tx) => viewChat(tx, busy, stranger)],
    ['events until it was left', (tx) => visibleEvents(tx, { userId: left, after: 0, upTo: count, limit: 50 })],
    [
      'events of a kind that there is none of, among the first',
      (tx) => visibleEvents(tx, { userId: left, after: 0, upTo: count, limit: 50, events: ['role_changed'] }),
    ],
    ['events since it was joined', (tx) => visibleEvents(tx, { userId: late, after: 0, upTo: count, limit: 50 })],
  ];

  test.each(questionsAboutBusy)('a busy chat is not scanned to its end: %s', async (_, ask) => {
    const guest = await openAsGuest(readSettings(environment));
    const { tx, plans } = planning(guest, true);
    await ask(tx);
    const blocks = plans.flatMap((plan) => blocksRead(plan, /using (messages|events)_(by_chat|but_messages)/));
    expect(blocks.length).toBeGreaterThan(0);
    // All of its index entries take more than 20 blocks.
    expect(Math.max(...blocks)).toBeLessThan(10);
    await guest.close();
  });
});
