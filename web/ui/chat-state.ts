import { type Signal, signal } from '@preact/signals';
import type { MessageRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';

/** What the user is doing in the open chat. */
export class ChatState {
  readonly chatId: number;
  /** The thread that is shown instead of the whole chat. */
  readonly threadId: number | undefined;
  readonly #store: Store;
  /** The message whose actions are shown. */
  readonly active: Signal<number | undefined> = signal(undefined);
  readonly editing: Signal<number | undefined> = signal(undefined);
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
  /** A short confirmation. */
  readonly notice: Signal<string> = signal('');
  /** Increased with each message that the user sends. */
  readonly sent = signal(0);
  /** Increased to put the focus into the composer. */
  readonly focusComposer = signal(0);

  constructor(chatId: number, store: Store, threadId?: number) {
    this.chatId = chatId;
    this.threadId = threadId;
    this.#store = store;
  }

  find(messageId: number): MessageRecord | undefined {
    return this.#messages().find(({ message_id }) => message_id === messageId);
  }

  #messages(): readonly MessageRecord[] {
    if (this.threadId === undefined) return this.#store.timeline(this.chatId).value?.messages ?? [];
    return this.#store.threads.value.get(this.threadId)?.replies.messages ?? [];
  }

  startReply(message: MessageRecord): void {
    this.replyingTo.value = message;
    this.focusComposer.value++;
  }

  startEdit(message: MessageRecord): void {
    this.editing.value = message.message_id;
  }

  endEdit(): void {
    this.editing.value = undefined;
    this.focusComposer.value++;
  }

  /** Edits the last message of the user. Returns false if there is none. */
  editLast(): boolean {
    const last = this.#messages().findLast(
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
    this.tell(copyText(url) ? 'Link copied' : url);
  }

  /** Shows a short notice. */
  tell(text: string): void {
    this.notice.value = text;
    setTimeout(() => {
      this.notice.value = '';
    }, 4_000);
  }
}

/** Copies a text. The clipboard API exists only over https, and its predecessor everywhere. */
function copyText(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'unseen';
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  return isCopied;
}
