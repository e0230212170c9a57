import { expect, test } from 'bun:test';
import type { UserId } from '@parley/contract';
import { readSettings } from '../../config.ts';
import { insertUser } from '../../store/access/users.ts';
import { mentionsOf } from '../../store/chat/mentions.ts';
import { openStore } from '../../store/engine/open.ts';
import { freshEnvironment, onBothEngines } from '../support/engines.ts';

/** Messages of the reader that mention all, after those of the other. */
const own = 1_000;
const [reader, other] = [1, 2] as [UserId, UserId];

onBothEngines("mentions among many of one's own", (name) => {
  test('are found past up to 999 of them, and from any message on', async () => {
    const engine = await openStore(readSettings(await freshEnvironment(name)), Date.now);
    const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${own})`;
    await engine.write(async (tx) => {
      for (const user of ['reader', 'other']) {
        await insertUser(tx, { name: user, displayName: user, isAdmin: false, passwordHash: null, at: 0 });
      }
      await tx.run(
        `INSERT INTO chats (type, visibility, name, search_key, description, created_by, created_at)
         VALUES ('group', 'private', 'Chat', 'chat', '', 1, 0)`,
      );
      await tx.run(
        `INSERT INTO members (chat_id, user_id, joined_event, role, joined_at, last_read_id)
         VALUES (1, 1, 1, 'member', 0, 0)`,
      );
      await tx.run(`INSERT INTO messages (message_id, chat_id, user_id, json) VALUES (1, 1, 2, '{}'), (2, 1, 2, '{}')`);
      await tx.run(
        `INSERT INTO mentions (chat_id, user_id, message_id, author_id) VALUES (1, 0, 1, ${other}), (1, ${reader}, 2, ${other})`,
      );
      await tx.run(
        `${numbers} INSERT INTO mentions (chat_id, user_id, message_id, author_id) SELECT 1, 0, i + 2, ${reader} FROM n`,
      );
    });
    const before = async (id: number) =>
      (await mentionsOf(engine, { userId: reader, before: id, limit: 10 })).map(Number);
    expect(await before(own + 2)).toEqual([2, 1]);
    expect(await before(own + 3)).toEqual([2]);
    await engine.close();
  });
});
