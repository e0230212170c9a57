import type { MessageRecord } from '../store/records.ts';
import { useSession } from './context.ts';

/** Returns a function that pins a message or unpins it. */
export function useSetPinned(): (message: MessageRecord, isPinned: boolean) => Promise<void> {
  const { client, store } = useSession();
  return async ({ chat_id, message_id }, isPinned) => {
    const { chat } = await (isPinned ? client.messages.pin : client.messages.unpin)({ message_id });
    store.changeChat(chat_id, () => ({ pins: chat.pins }));
  };
}
