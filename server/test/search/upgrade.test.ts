import { expect, test } from 'bun:test';
import type { ChatId, UserId } from '@parley/contract';
import { readSettings } from '../../config.ts';
import { databaseFile } from '../../store/data-folder/folder.ts';
import { migrateTo } from '../../store/engine/migrate.ts';
import { fillStore, openStore } from '../../store/engine/open.ts';
import { searchAllChats, searchMessages } from '../../store/search/search.ts';
import { emptyEnvironment, onBothEngines } from '../support/engines.ts';

onBothEngines('an upgrade to the index that has words without their chats', (name) => {
  test('finds the messages that were there', async () => {
    const settings = readSettings(await emptyEnvironment(name));
    await fillStore(settings, databaseFile(settings.folder), async (tx) => {
      await migrateTo(tx, 14, () => 0);
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
      await tx.run(
        `INSERT INTO messages (message_id, chat_id, user_id, json) VALUES (1, 1, 1, '{"content":"Kept words"}')`,
      );
      await tx.run(
        name === 'sqlite'
          ? `INSERT INTO message_words (rowid, words) VALUES (1, '1xkept 1xwords')`
          : `INSERT INTO message_words (message_id, words) VALUES (1, array_to_tsvector(ARRAY['1xkept', '1xwords']))`,
      );
    });
    const engine = await openStore(settings, Date.now);
    const q = { userId: 1 as UserId, words: ['kept', 'wor'], before: 10, limit: 10 };
    expect(await searchMessages(engine, { ...q, chatIds: [1 as ChatId] })).toHaveLength(1);
    expect(await searchAllChats(engine, q)).toHaveLength(1);
    await engine.close();
  });
});
