import type { Client } from '@parley-chat/sdk';
import type { Store } from './store.ts';

/** Marks a chat as read, up to the newest message that the client knows. */
export async function markRead(store: Store, client: Client, chatId: number): Promise<void> {
  const { read } = await client.messages.markRead({ chat_id: chatId, message_id: store.newestId(chatId) });
  store.changeChat(chatId, () => ({
    last_read_id: read.last_read_id,
    unread_count: read.unread_count,
    mention_count: 0,
  }));
}
