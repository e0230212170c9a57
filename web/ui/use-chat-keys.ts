import { useEffect } from 'preact/hooks';
import type { ChatState } from './chat-state.ts';
import { useSession } from './context.ts';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.matches('input, textarea, select') || target.isContentEditable);

/** The keys of the open chat: j and k move between messages, Escape marks the chat as read. */
export function useChatKeys(state: ChatState): void {
  const { client, store, report } = useSession();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (
        event.defaultPrevented ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        document.querySelector('dialog[open]')
      )
        return;
      if (event.key === 'Escape') {
        state.firstUnread.value = undefined;
        const messageId = store.newestId(state.chatId);
        if ((store.chat(state.chatId)?.unread_count ?? 0) > 0) {
          client.messages.markRead({ chat_id: state.chatId, message_id: messageId }).catch(report);
        }
        state.focusComposer.value++;
      } else if ((event.key === 'j' || event.key === 'k') && !isTyping(event.target)) {
        moveFocus(event.key === 'j' ? 1 : -1);
        event.preventDefault();
      }
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [state, client, store, report]);
}

/** Moves the focus to the next or the previous message. It starts at the last one. */
function moveFocus(step: 1 | -1): void {
  const messages = [...document.querySelectorAll<HTMLElement>('.message[data-message]')];
  const at = messages.findIndex((message) => message.contains(document.activeElement));
  const next = at < 0 ? messages.at(-1) : messages[at + step];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'nearest' });
}
