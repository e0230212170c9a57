import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { UserId } from '@parley/contract';
import { readSettings } from '../../config.ts';
import { audiencesOf, visibleAmong } from '../../store/access/presence.ts';
import { insertUser } from '../../store/access/users.ts';
import type { Engine } from '../../store/engine/engine.ts';
import { openStore } from '../../store/engine/open.ts';
import { freshEnvironment, onBothEngines } from '../support/engines.ts';

const names = ['reader', 'busy', 'busier', 'peer', 'colleague', 'stranger', 'hidden', 'joiner'] as const;
const [reader, busy, busier, peer, colleague, stranger, hidden, joiner] = names.map((_, i) => i + 1) as [
  UserId,
  UserId,
  UserId,
  UserId,
  UserId,
  UserId,
  UserId,
  UserId,
];

/** Groups of each of the two busy users. */
const crowd = 10_500;
/** The first chats after theirs. */
const [shared, large, direct, directOfBusy] = [2 * crowd + 1, 2 * crowd + 2, 2 * crowd + 3, 2 * crowd + 4];
/** The reader and the joiner have so many groups of their own. */
const own = 300;

async function fill(engine: Engine): Promise<void> {
  const numbers = (last: number) =>
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${last})`;
  await engine.write(async (tx) => {
    for (const name of names) {
      await insertUser(tx, { name, displayName: name, isAdmin: false, passwordHash: null, at: 0 });
    }
    await tx.run('UPDATE users SET hides_presence = 1 WHERE user_id = $1', [hidden]);
    await tx.run(
      `${numbers(directOfBusy + 2 * own)} INSERT INTO chats
         (type, visibility, name, search_key, description, created_by, created_at, participant_count, direct_key)
       SELECT 'group', 'private', 'Chat', 'chat', '', 1, 0, CASE i WHEN ${large} THEN 90 ELSE 3 END,
         CASE i WHEN ${direct} THEN '${reader}:${peer}' WHEN ${directOfBusy} THEN '${busy}:${stranger}' END FROM n`,
    );
    const join = (user: UserId, chats: string) =>
      tx.run(
        `${numbers(directOfBusy + 2 * own)} INSERT INTO members (chat_id, user_id, joined_event, role, joined_at, last_read_id)
         SELECT i, ${user}, 1, 'member', 0, 0 FROM n WHERE ${chats}`,
      );
    await join(busy, `i <= ${crowd} OR i IN (${shared}, ${directOfBusy})`);
    await join(busier, `i > ${crowd} AND i <= ${2 * crowd}`);
    await join(peer, `i = ${direct}`);
    await join(colleague, `i = ${shared}`);
    await join(hidden, `i = ${shared}`);
    await join(stranger, `i = ${directOfBusy}`);
    await join(reader, `i IN (${shared}, ${large}, ${direct}) OR i > ${directOfBusy} AND i <= ${directOfBusy + own}`);
    await join(joiner, `i = ${large} OR i > ${directOfBusy + own}`);
  });
  if (engine.dialect.name === 'postgres') await engine.run('ANALYZE');
}

onBothEngines('presence among people with many chats', (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openStore(readSettings(await freshEnvironment(name)), Date.now);
    await fill(engine);
  });
  afterAll(() => engine.close());

  test('is seen by whom one shares a chat with, whoever else is asked for', async () => {
    const asked = [busy, busier, peer, colleague, stranger, hidden, joiner];
    const expected = [peer, colleague, joiner];
    for (const ids of [asked, asked.toReversed(), [busier, ...expected]]) {
      const visible = await visibleAmong(engine, reader, ids);
      expect(expected.filter((id) => !visible.has(id))).toEqual([]);
      expect([busier, stranger, hidden].filter((id) => visible.has(id))).toEqual([]);
    }
    for (const id of asked) {
      const [alone, together] = [await visibleAmong(engine, reader, [id]), await visibleAmong(engine, reader, asked)];
      expect([id, alone.has(id)]).toEqual([id, together.has(id)]);
    }
    // It is found from the side with few chats.
    expect([...(await visibleAmong(engine, colleague, [busy, busier]))]).toEqual([busy]);
  });

  test('is told in direct chats first', async () => {
    const limits = { maxParticipants: 100, maxChats: 4_000 };
    const { audiences, isWhole } = await audiencesOf(engine, [busy], limits);
    expect(isWhole).toBe(false);
    expect(audiences.get(busy)?.chatIds[0] as number).toBe(directOfBusy);
    expect(audiences.get(busy)?.chatIds.length).toBe(4_000);
    const few = await audiencesOf(engine, [reader, peer], limits);
    expect(few.isWhole).toBe(true);
    expect(few.audiences.get(reader)?.chatIds[0] as number).toBe(direct);
    expect(few.audiences.get(peer)?.chatIds as number[]).toEqual([direct]);
  });
});
