import { expect, test } from 'bun:test';
import type { ChatId, MessageId, UserId } from '@parley/contract';
import { readSettings } from '../../config.ts';
import { messageJson } from '../../domain/message.ts';
import { messageFor } from '../../operations/present.ts';
import { findMessage, type MessageRow } from '../../store/chat/messages.ts';
import { type NewMessage, sendMessages } from '../../store/chat/send.ts';
import { databaseFile } from '../../store/data-folder/folder.ts';
import { migrateTo } from '../../store/engine/migrate.ts';
import { fillStore, openStore } from '../../store/engine/open.ts';
import { emptyEnvironment, onBothEngines } from '../support/engines.ts';

const [chat_id, user_id] = [1 as ChatId, 1 as UserId];

onBothEngines('an upgrade from a version without threads', (name) => {
  test('keeps reactions, and a reply to a message of then begins a thread there', async () => {
    const settings = readSettings(await emptyEnvironment(name));
    const old = (id: number, replyTo: number | null) => {
      const said = { message_id: id as MessageId, chat_id, user_id, content: 'old', file: null };
      return messageJson({ ...said, reply_to: replyTo as MessageId | null }, 0);
    };
    await fillStore(settings, databaseFile(settings.folder), async (tx) => {
      await migrateTo(tx, 18, () => 0);
      await tx.run(
        `INSERT INTO users (name, name_key, display_name, search_key, is_admin, created_at) VALUES ('a', 'a', 'A', 'a', 0, 0)`,
      );
      await tx.run(
        `INSERT INTO chats (type, visibility, name, search_key, description, created_by, created_at)
         VALUES ('group', 'private', 'Chat', 'chat', '', 1, 0)`,
      );
      await tx.run(
        `INSERT INTO members (chat_id, user_id, joined_event, role, joined_at, last_read_id)
         VALUES (1, 1, 1, 'member', 0, 0)`,
      );
      await tx.takeIds({ messages: 2, events: 2 });
      await tx.run(
        `INSERT INTO messages (message_id, chat_id, user_id, has_reactions, json) VALUES (1, 1, 1, 1, $1), (2, 1, 1, 0, $2)`,
        [old(1, null), old(2, 1)],
      );
      await tx.run(`INSERT INTO reactions (chat_id, message_id, emoji, user_id, event_id) VALUES (1, 1, '👍', 1, 2)`);
    });
    const engine = await openStore(settings, Date.now);
    const read = async (id: number) => {
      const row = (await findMessage(engine, id as MessageId)) as MessageRow;
      return messageFor(engine, row, user_id, String);
    };
    expect((await read(1)).reactions).toEqual([{ emoji: '👍', count: 1, reacted: true }]);
    expect(await read(1)).not.toHaveProperty('reply_count');
    const said = { chat_id, user_id, content: 'new', file_id: null, more_files: [], file: null, key: null };
    const reply: NewMessage = { ...said, reply_to: 2 as MessageId };
    const [outcome] = await engine.call(sendMessages, { messages: [reply], fileUrl: '' }, Date.now);
    const sent = JSON.parse((outcome as { json: string }).json) as { thread_id: number };
    expect(sent.thread_id).toBe(2);
    expect((await read(2)).reply_count).toBe(1);
    await engine.close();
  });
});
