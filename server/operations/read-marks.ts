import type { MessageId } from '@parley/contract';
import { Batcher } from '../lib/batcher.ts';
import { viewChat } from '../store/chat/chats.ts';
import { advanceReadMarks, type ReadMark } from '../store/chat/members.ts';
import { accessChatTo } from './access.ts';
import type { Handler, Services } from './operation.ts';

const maxBatch = 256;

/** Batches read marks in shared transactions: every reader sends one after every message. */
export function markRead({ engine, signal }: Services): Handler<'messages.mark_read'> {
  const batches = new Batcher<ReadMark, true>(
    async (marks) => {
      const moved = await engine.write((tx) => advanceReadMarks(tx, marks));
      for (const data of moved) signal({ event: 'message_read', data });
      return marks.map(() => true as const);
    },
    { maxItems: maxBatch, concurrentBatches: 1 },
  );
  return async ({ caller: { userId }, input: { chat_id, message_id = null } }) => {
    await accessChatTo(engine, 'read', userId, chat_id);
    await batches.submit({ chat_id, user_id: userId, message_id });
    const view = await viewChat(engine, chat_id, userId);
    const last_read_id = (view?.last_read_id || null) as MessageId | null;
    return { read: { chat_id, last_read_id, unread_count: view?.unread_count ?? 0 } };
  };
}
