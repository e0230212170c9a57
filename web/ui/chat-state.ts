import { type Signal, signal } from '@preact/signals';
import { copyText } from '../lib/copy-text.ts';
import type { Conversation } from '../outbox/conversation.ts';
import type { MessageRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { text } from '../text/text.ts';
import { isWindowOpen } from './dialogs.ts';
import { tell } from './notice.tsx';

/** What the user is doing in the open chat. */
export class ChatState implements Conversation {
  readonly chatId: number;
  /** The thread that is shown instead of the whole chat. */
  readonly threadId: number | undefined;
  readonly #store: Store;
  /** The message whose actions are shown. */
  readonly active: Signal<number | undefined> = signal(undefined);
  /** The message that the keys have moved to. A new object puts the focus on it again. */
  readonly focused: Signal<{ readonly messageId: number } | undefined> = signal(undefined);
  readonly editing: Signal<number | undefined> = signal(undefined);
  /** The new text of the message that is edited. */
  readonly editDraft = signal('');
  /** The new texts of messages that were left for the edit of another one. */
  readonly #editDrafts = new Map<number, string>();
  /** Increased to show the edited message, and to put the focus on it. */
  readonly focusEdit = signal(0);
  readonly replyingTo: Signal<MessageRecord | undefined> = signal(undefined);
  readonly deleting: Signal<MessageRecord | undefined> = signal(undefined);
  /** The file of the picture that fills the screen. */
  readonly viewing: Signal<number | undefined> = signal(undefined);
  /** The message that a link leads to. */
  readonly target: Signal<number | undefined> = signal(undefined);
  /** The first message that was unread when the chat was opened. */
  readonly firstUnread: Signal<number | undefined> = signal(undefined);
  /** Increased whenever the newest message is on the screen. */
  readonly reachedEnd = signal(0);
  /** Increased with each message that the user sends. */
  readonly sent = signal(0);
  /** Increased to put the focus into the composer. */
  readonly focusComposer = signal(0);

  /** Rows that pass under a resting pointer while the list scrolls show no actions. */
  isScrolling = false;
  /** Handlers for what contains the messages. Listeners of each row would be added whenever one scrolls into view. */
  readonly activation = {
    onPointerOver: ({ target, pointerType }: PointerEvent) => {
      if (pointerType === 'mouse' && !this.isScrolling) this.activate(target);
    },
    onPointerLeave: ({ pointerType }: PointerEvent) => {
      if (pointerType === 'mouse') this.#leave();
    },
    onPointerDown: ({ target, pointerType }: PointerEvent) => {
      const active = this.active.peek();
      this.#tappedAgain = pointerType === 'touch' && messageAt(target) === active ? active : undefined;
    },
    // A finger has no place to rest: a tap shows the actions, and the next one hides them.
    onClick: ({ target }: MouseEvent) => {
      // The buttons of the edit form end it, and the actions with it.
      if ((target as Element).closest('form')) return;
      const isOnControl = (target as Element).closest('a, button, input, textarea, audio, video') !== null;
      if (this.#tappedAgain !== undefined && messageAt(target) === this.#tappedAgain && !isOnControl) this.deactivate();
      else this.activate(target);
    },
    onFocusIn: ({ target }: FocusEvent) => this.activate(target),
  };
  /** The message that a finger is on, if its actions were shown before. The focus comes before the click, and shows them too. */
  #tappedAgain: number | undefined;

  constructor(chatId: number, store: Store, threadId?: number) {
    this.chatId = chatId;
    this.threadId = threadId;
    this.#store = store;
  }

  /** Shows the actions of the message that an element belongs to. */
  activate(target: EventTarget | null): void {
    const messageId = messageAt(target);
    if (messageId !== undefined) this.active.value = messageId;
  }

  deactivate(): void {
    this.active.value = undefined;
  }

  /** The pointer has left. The keyboard and a window that was opened from the actions still need them. */
  #leave(): void {
    if (!isWindowOpen() && !document.querySelector('[data-message] :focus-visible, [data-message]:focus-visible')) {
      this.deactivate();
    }
  }

  find(messageId: number): MessageRecord | undefined {
    return this.messages().find(({ message_id }) => message_id === messageId);
  }

  /** The messages that are shown, as far as they are loaded: those of the chat, or the first one of a thread and its replies. */
  messages(): readonly MessageRecord[] {
    if (this.threadId === undefined) return this.#store.timeline(this.chatId).value?.messages ?? [];
    const thread = this.#store.threads.value.get(this.threadId);
    return thread ? [thread.root, ...thread.replies.messages] : [];
  }

  /** Moves the focus from a message to the next or the previous one. If there is no such message, it goes to `start`. */
  moveFocus(step: 1 | -1, from: number | undefined, start: number | undefined): void {
    const messages = this.messages();
    const at = messages.findIndex(({ message_id }) => message_id === from);
    const next = at < 0 ? start : messages[at + step]?.message_id;
    if (next !== undefined) this.focused.value = { messageId: next };
  }

  startReply(message: MessageRecord): void {
    this.replyingTo.value = message;
    this.focusComposer.value++;
  }

  startEdit(message: MessageRecord): void {
    const { message_id, content } = message;
    const before = this.editing.peek();
    this.focusEdit.value++;
    if (before === message_id) return;
    if (before !== undefined) this.#editDrafts.set(before, this.editDraft.peek());
    this.editDraft.value = this.#editDrafts.get(message_id) ?? content;
    this.editing.value = message_id;
  }

  endEdit(): void {
    this.#editDrafts.delete(this.editing.peek() ?? 0);
    this.editing.value = undefined;
    this.deactivate();
    this.focusComposer.value++;
  }

  /** Edits the last message of the user. Returns false if there is none. */
  editLast(): boolean {
    const last = this.messages().findLast(
      ({ user_id, deleted_at, content }) => user_id === this.#store.me.user_id && deleted_at === null && content !== '',
    );
    if (last) this.startEdit(last);
    return last !== undefined;
  }

  askToDelete(message: MessageRecord): void {
    this.deleting.value = message;
  }

  copyLink({ message_id }: MessageRecord): void {
    const url = `${location.origin}/m/${message_id}`;
    tell(copyText(url) ? text.message.linkCopied : url);
  }
}

/** Returns the message that an element belongs to. */
const messageAt = (target: EventTarget | null): number | undefined =>
  Number((target as Element | null)?.closest<HTMLElement>('[data-message]')?.dataset.message) || undefined;
