import { useSignalEffect } from '@preact/signals';
import { useCallback } from 'preact/hooks';
import { markRead } from '../store/mark-read.ts';
import { text } from '../text/text.ts';
import type { ChatState } from './chat-state.ts';
import { useSession } from './context.ts';
import { useAct } from './notice.tsx';

/** Returns a function that marks a chat as read, because the user asked for it. */
export function useMarkRead(): (chatId: number) => void {
  const { client, store } = useSession();
  const act = useAct();
  return useCallback(
    (chatId) => act(text.chatMenu.markReadFailed, () => markRead(store, client, chatId)),
    [act, store, client],
  );
}

/** A chat that is shown for a shorter time does not count as read. */
const lookMs = 300;

/** Marks the chat as read while its newest message is on the screen of somebody who looks. */
export function useMarkSeen(state: ChatState): void {
  const { client, store, report } = useSession();
  useSignalEffect(() => {
    const { chatId } = state;
    const isSeen = state.reachedEnd.value > 0 && store.isVisible.value;
    const unread = store.chats.value.get(chatId)?.unread_count ?? 0;
    // Without a connection the call would fail. This runs again when the connection is back.
    if (!isSeen || unread === 0 || store.connection.value === 'lost') return;
    const timer = setTimeout(() => markRead(store, client, chatId).catch(report), lookMs);
    return () => clearTimeout(timer);
  });
}
