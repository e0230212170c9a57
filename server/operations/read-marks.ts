import { Batcher } from '../lib/batcher.ts';
import { viewChat } from '../store/chat/chats.ts';
import { advanceReadMarks, type ReadMark } from '../store/chat/members.ts';
import { accessChatTo } from './access.ts';
import type { Handler, Services } from './operation.ts';

const largestBatch = 256;

/** `mark_read`: every reader sends one after every message, so those that arrive together share a transaction. */
export function readMarker({ engine, signal }: Services): Handler<'messages.mark_read'> {
  const batches = new Batcher<ReadMark, true>(
    async (marks) => {
      const moved = await engine.write((tx) => advanceReadMarks(tx, marks));
      for (const data of moved) signal({ event: 'message_read', data });
      return marks.map(() => true as const);
    },
    { maxItems: largestBatch, concurrentBatches: 1 },
  );
  return async ({ caller, input }) => {
    const { chat_id } = input;
    await accessChatTo(engine, 'read', caller.userId, chat_id);
    await batches.submit({ chat_id, user_id: caller.userId, message_id: input.message_id ?? null });
    const view = await viewChat(engine, chat_id, caller.userId);
    const last_read_id = (view?.last_read_id || null) as typeof input.message_id | null;
    return { read: { chat_id, last_read_id: last_read_id ?? null, unread_count: view?.unread_count ?? 0 } };
  };
}
