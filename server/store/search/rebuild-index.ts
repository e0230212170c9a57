import type { ChatId, MessageId } from '@parley/contract';
import type { KeptMessage } from '../../domain/message.ts';
import { words } from '../../domain/words.ts';
import type { Tx } from '../engine/engine.ts';
import { logTip, moveCursor } from '../log/events.ts';
import { addToIndex, mergeIndex } from './indexing.ts';

const batchSize = 500;

interface Indexed {
  readonly message_id: MessageId;
  readonly chat_id: ChatId;
  readonly json: string;
}

/** Fills an empty search index from the messages, and moves its cursor to the end of the log. */
export async function rebuildIndex(tx: Tx): Promise<void> {
  for (let after = 0; ; ) {
    const messages = await tx.all<Indexed>(
      `SELECT message_id, chat_id, json FROM messages WHERE message_id > $1 AND is_deleted = 0 ORDER BY message_id LIMIT $2`,
      [after, batchSize],
    );
    const last = messages.at(-1);
    if (!last) break;
    const indexed = messages.map(({ message_id, chat_id, json }) => {
      const { content } = JSON.parse(json) as KeptMessage;
      return { message_id, chat_id, words: words(content) };
    });
    await addToIndex(
      tx,
      indexed.filter((message) => message.words.length > 0),
    );
    await mergeIndex(tx);
    after = last.message_id;
  }
  await moveCursor(tx, 'search', await logTip(tx));
}
