import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { ChatId, MessageId, UserId } from '@parley/contract';
import { readSettings } from '../../config.ts';
import { insertUser } from '../../store/access/users.ts';
import { findChat } from '../../store/chat/chats.ts';
import { findMessage } from '../../store/chat/messages.ts';
import type { Engine } from '../../store/engine/engine.ts';
import { openStore } from '../../store/engine/open.ts';
import { freshEnvironment, onBothEngines } from '../support/engines.ts';

/** More than 32 bits can hold. */
const far = 2 ** 40;
const reader = 1 as UserId;
const chatOf = (n: number) => (far + n) as ChatId;
const messageOf = (n: number) => (far + n) as MessageId;

onBothEngines('lookups', (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openStore(readSettings(await freshEnvironment(name)), Date.now);
    await engine.write(async (tx) => {
      await insertUser(tx, { name: 'reader', displayName: 'Reader', isAdmin: false, passwordHash: null, at: 0 });
      for (let n = 0; n < 10; n++) {
        await tx.run(
          `INSERT INTO chats (chat_id, type, visibility, name, search_key, description, created_by, created_at)
           VALUES ($1, 'group', 'private', $2, '', '', 1, 0)`,
          [chatOf(n), `Chat ${n}`],
        );
        if (n % 2 === 0)
          await tx.run(
            `INSERT INTO members (chat_id, user_id, joined_event, role, joined_at, last_read_id)
             VALUES ($1, 1, 0, 'owner', 0, 0)`,
            [chatOf(n)],
          );
      }
    });
  });
  afterAll(() => engine.close());

  const write = (n: number) =>
    engine.write((tx) =>
      tx.run(`INSERT INTO messages (message_id, chat_id, user_id, json) VALUES ($1, $2, 1, '{}')`, [
        messageOf(n),
        chatOf(n % 10),
      ]),
    );

  test('made concurrently find their own rows, or none', async () => {
    const asked = Array.from({ length: 1_000 }, (_, i) => (i * 7) % 13);
    const found = await Promise.all(asked.map((n) => findChat(engine, chatOf(n), reader)));
    expect(found.map((chat) => chat?.name)).toEqual(asked.map((n) => (n < 10 ? `Chat ${n}` : undefined)));
    expect(found.map((chat) => chat?.role)).toEqual(asked.map((n) => (n < 10 ? (n % 2 ? null : 'owner') : undefined)));
  });

  test('see everything committed before the call, whatever statement is running', async () => {
    let over = false;
    const others = Array.from({ length: 20 }, async () => {
      for (; !over; await Bun.sleep(0)) await findMessage(engine, messageOf(0));
    });
    for (let n = 1; n <= 50; n++) {
      expect(await findMessage(engine, messageOf(n))).toBeUndefined();
      await write(n);
      expect((await findMessage(engine, messageOf(n)))?.chat_id).toBe(chatOf(n % 10));
    }
    over = true;
    await Promise.all(others);
  });

  test('in a transaction see its own writes', async () => {
    const n = 100;
    await engine.write(async (tx) => {
      const text = `INSERT INTO messages (message_id, chat_id, user_id, json) VALUES ($1, $2, 1, '{}')`;
      await tx.run(text, [messageOf(n), chatOf(1)]);
      expect((await findMessage(tx, messageOf(n)))?.message_id).toBe(messageOf(n));
      expect(await findMessage(tx, messageOf(n + 1))).toBeUndefined();
    });
  });
});

onBothEngines('lookups in a closed database', (name) => {
  test('all fail', async () => {
    const engine = await openStore(readSettings(await freshEnvironment(name)), Date.now);
    await engine.close();
    const asked = await Promise.allSettled([1, 2, 3].map((n) => findMessage(engine, messageOf(n))));
    expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });
});
