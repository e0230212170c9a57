import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { ChatId, UserId } from '@parley/contract';
import { readSettings } from '../../config.ts';
import { insertUser } from '../../store/access/users.ts';
import { type ActivityPlace, chatsByActivity } from '../../store/chat/activity.ts';
import { type ChatQuery, listChats, viewChats } from '../../store/chat/chats.ts';
import type { Engine } from '../../store/engine/engine.ts';
import { openAsGuest, openStore } from '../../store/engine/open.ts';
import { type Environment, freshEnvironment, onBothEngines } from '../support/engines.ts';
import { planning } from '../support/plans.ts';

/** Chats there are. The reader is in every fourth of them, and has left every eighth. */
const count = 4_000;
const reader = 1 as UserId;
const others = 50;
const ofReader = Array.from({ length: count }, (_, i) => i + 1).filter((id) => id % 4 === 0 && id % 8 !== 0);

async function fill(engine: Engine): Promise<void> {
  const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
  await engine.write(async (tx) => {
    for (const name of ['reader', ...Array.from({ length: others }, (_, i) => `other${i}`)]) {
      await insertUser(tx, { name, displayName: name, isAdmin: false, passwordHash: null, at: 0 });
    }
    await tx.run(
      `${numbers} INSERT INTO chats (type, visibility, name, search_key, description, created_by, created_at)
       SELECT 'group', 'private', 'Chat', 'chat ' || i, '', 2, 0 FROM n`,
    );
    await tx.run(
      `${numbers} INSERT INTO members (chat_id, user_id, joined_event, left_event, role, joined_at, last_read_id)
       SELECT i, u.user_id, 1, CASE WHEN u.user_id = 1 AND i % 8 = 0 THEN 2 END, 'member', 0, 0
       FROM n JOIN users u ON u.user_id = 2 OR u.user_id = i % ${others} + 2 OR u.user_id = ${reader} AND i % 4 = 0`,
    );
  });
  if (engine.dialect.name === 'postgres') await engine.run('ANALYZE');
}

onBothEngines('a list of chats among many', (name) => {
  let environment: Environment;
  let engine: Engine;
  beforeAll(async () => {
    environment = await freshEnvironment(name);
    engine = await openStore(readSettings(environment), Date.now);
    await fill(engine);
  });
  afterAll(() => engine.close());

  const page = async (query: Omit<ChatQuery, 'scope'>) =>
    (await listChats(engine, reader, { scope: 'mine', ...query })).map((chat) => chat.chat_id as number);

  test('is in the order of their ids, page after page, without those that were left', async () => {
    const listed: number[] = [];
    for (let afterId = 0; ; afterId = listed.at(-1) ?? 0) {
      const ids = await page({ afterId, limit: 201 });
      listed.push(...ids);
      if (ids.length < 201) break;
    }
    expect(listed).toEqual(ofReader);
  });

  test('has those by a part of their names', async () => {
    const named = ofReader.filter((id) => `chat ${id}`.includes('t 39'));
    expect(await page({ afterId: 0, limit: 201, query: 'T 39' })).toEqual(named);
    expect(await page({ afterId: 3_920, limit: 3, query: 'T 39' })).toEqual(
      named.filter((id) => id > 3_920).slice(0, 3),
    );
  });

  test('begins with the memberships of the user where the page begins, and sorts nothing', async () => {
    const guest = await openAsGuest(readSettings(environment));
    for (const query of [undefined, 't 39']) {
      const { tx, plans } = planning(guest);
      await listChats(tx, reader, { scope: 'mine', afterId: 0, limit: 51, query });
      const [plan = ''] = plans;
      const scans = plan.split('\n').filter((step) => /SEARCH|SCAN| Scan (using|on) (?!c |c$)/.test(step));
      expect(scans[0]).toContain('members_by_user');
      expect(plan).toContain(name === 'sqlite' ? '(user_id=? AND chat_id>?)' : '(chat_id = m.chat_id)');
      expect(plan).not.toMatch(/USE TEMP B-TREE FOR ORDER BY|Sort Key: (c|m)\.chat_id/);
    }
    await guest.close();
  });

  const everything = { isArchived: false, onlyPinned: false, query: undefined };

  test('by activity is complete, page after page', async () => {
    const moment = { event_id: 1, message_id: 0 };
    const listed: number[] = [];
    for (let after: ActivityPlace | undefined, more = true; more; ) {
      const places = await chatsByActivity(engine, reader, { ...everything, moment, after, limit: 201 });
      listed.push(...places.map(({ chat_id }) => chat_id as number));
      after = places.at(-1);
      more = places.length === 201;
    }
    expect(listed).toEqual(ofReader.toReversed());
  });

  test("by activity reads the user's memberships from one index, and one message of each chat", async () => {
    const guest = await openAsGuest(readSettings(environment));
    const moment = { event_id: 10, message_id: 10 };
    for (const after of [undefined, { chat_id: 400 as ChatId, activity: 1 }]) {
      const { tx, plans } = planning(guest);
      await chatsByActivity(tx, reader, { ...everything, moment, after, limit: 51 });
      const [plan = ''] = plans;
      expect(plan).toMatch(/COVERING INDEX members_of_user|Scan (using|on) members_of_user/);
      expect(plan).toContain('messages_by_chat');
      expect(plan).not.toMatch(/messages_pkey|Seq Scan on (messages|members)|SCAN [mt]\b/);
    }
    const { tx, plans } = planning(guest);
    await viewChats(tx, reader, [4 as ChatId, 12 as ChatId], 10);
    const ofOne = { sqlite: '(chat_id=? AND user_id=?)', postgres: '(chat_id = c.chat_id)' };
    expect(plans[0]).toContain(ofOne[name]);
    expect(plans[0]).not.toMatch(/Seq Scan|SCAN [cm]\b/);
    await guest.close();
  });
});
