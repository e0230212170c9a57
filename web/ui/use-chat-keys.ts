import { useEffect } from 'preact/hooks';
import type { ChatState } from './chat-state.ts';
import { useSession } from './context.ts';
import { isWindowOpen } from './dialogs.ts';
import { useMarkRead } from './use-mark-read.ts';

/** Most keys are for the composer, and looking for open windows in the whole page would hold them up. */
const isOurs = ({ key, defaultPrevented, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  (key === 'Escape' || key === 'j' || key === 'k') &&
  !(defaultPrevented || ctrlKey || metaKey || altKey || isWindowOpen());

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.matches('input, textarea, select') || target.isContentEditable);

/** The keys of the open chat: j and k move between messages, Escape marks the chat as read. */
export function useChatKeys(state: ChatState): void {
  const { store } = useSession();
  const markRead = useMarkRead();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!isOurs(event)) return;
      if (event.key === 'Escape') {
        state.firstUnread.value = undefined;
        state.focused.value = undefined;
        if ((store.chat(state.chatId)?.unread_count ?? 0) > 0) markRead(state.chatId);
        state.focusComposer.value++;
      } else if (!isTyping(event.target)) {
        moveFocus(state, event.key === 'j' ? 1 : -1);
        event.preventDefault();
      }
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [state, store, markRead]);
}

const idOf = (row: Element | null | undefined): number | undefined =>
  Number(row?.getAttribute('data-message')) || undefined;

/**
 * Moves the focus to the next or the previous message. In the chat it moves by the list of messages: of the rows, only those
 * near the screen exist. A thread has all its rows.
 */
function moveFocus(state: ChatState, step: 1 | -1): void {
  const { activeElement } = document;
  const thread = activeElement?.closest('.thread-pane');
  if (thread) {
    const rows = [...thread.querySelectorAll<HTMLElement>('.message[data-message]')];
    const at = rows.findIndex((row) => row.contains(activeElement));
    (at < 0 ? rows.at(-1) : rows[at + step])?.focus();
    return;
  }
  const list = document.querySelector('.message-list');
  // A row that is not there any more leaves the focus to the body.
  const isLost = activeElement === document.body;
  const row = list?.contains(activeElement) ? activeElement?.closest('.message[data-message]') : undefined;
  state.moveFocus(step, isLost ? state.focused.peek()?.messageId : idOf(row), lastShownIn(list));
}

/** Returns the last message that is on the screen, at least with its start. */
function lastShownIn(list: Element | null): number | undefined {
  const bottom = list?.getBoundingClientRect().bottom ?? 0;
  const rows = [...(list?.querySelectorAll('.message[data-message]') ?? [])];
  return idOf(rows.findLast((row) => row.getBoundingClientRect().top < bottom));
}
