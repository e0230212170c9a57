import type { EventData, SignalData, Streamed } from '@parley-chat/sdk';
import { batch } from '@preact/signals';
import { type ChatRecord, type MessageRecord, maxPreview, type SentChat } from './records.ts';
import type { Store } from './store.ts';

/** Loads what an event does not carry. */
export interface Loads {
  /** Loads a chat that is new to the user, or whose counts changed. */
  chat(chatId: number): void;
  /** Loads a message whose reactions changed: their counts in the store may already include the event. */
  message(chatId: number, messageId: number): void;
  /** Loads the threads of the user, because their counts may have changed. */
  threads(): void;
}

type Handler<D> = (store: Store, data: D, at: string, loads: Loads) => void;
type Handlers = { readonly [E in keyof EventData]?: Handler<EventData[E]> } & {
  readonly [S in keyof SignalData]?: Handler<SignalData[S]>;
};

/** Activities are ids. What is between two of them is less than one apart. */
const placeStep = 1e-4;

const loadChat: Handler<{ readonly chat_id: number }> = (_, { chat_id }, __, loads) => loads.chat(chat_id);
const loadMessage: Handler<{ readonly chat_id: number; readonly message_id: number }> = (_, data, __, loads) =>
  loads.message(data.chat_id, data.message_id);

/** What each event and signal changes. Every one may arrive twice, or be part of the state already. */
const handlers: Handlers = {
  new_message: (store, data, at, loads) => {
    if (!store.chat(data.chat_id)) loads.chat(data.chat_id);
    const message = messageOf(data, at);
    store.addMessage(message);
    if (data.thread_id !== undefined) loads.threads();
    store.tellArrived(message);
  },
  message_edited: (store, { chat_id, message_id, content, mentions, mentions_all }, at, loads) => {
    store.changePreview(chat_id, message_id, { content: content.slice(0, maxPreview) });
    store.changeMessage(chat_id, message_id, ({ mentions: _, mentions_all: __, ...message }) => ({
      ...message,
      ...(mentions && { mentions }),
      ...(mentions_all && { mentions_all }),
      content,
      edited_at: at,
    }));
    // An edit may add a mention to an unread message, or take one away.
    if ((store.chat(chat_id)?.unread_count ?? 0) > 0) loads.chat(chat_id);
  },
  message_deleted: (store, { chat_id, message_id, thread_id }, at, loads) => {
    if (thread_id !== undefined) {
      loads.message(chat_id, thread_id);
      loads.threads();
    }
    store.unpin(chat_id, message_id);
    store.changePreview(chat_id, message_id, { content: '', file: null });
    store.changeMessage(chat_id, message_id, (message) => tombstone(message, at));
    if ((store.chat(chat_id)?.unread_count ?? 0) > 0) loads.chat(chat_id);
  },
  group_created: loadChat,
  channel_created: loadChat,
  direct_created: loadChat,
  user_joined: (store, { chat_id }, _, loads) => {
    store.forgetParticipants(chat_id);
    loads.chat(chat_id);
  },
  user_left: (store, { chat_id, user_id }, _, loads) => {
    store.forgetParticipants(chat_id);
    if (user_id === store.me.user_id) store.removeChat(chat_id);
    else loads.chat(chat_id);
  },
  chat_updated: (store, { chat_id, name, description, visibility }) =>
    store.changeChat(chat_id, () => ({ name, description, visibility })),
  role_changed: (store, { chat_id, user_id, role }) => {
    if (user_id === store.me.user_id) store.changeChat(chat_id, () => ({ role }));
  },
  user_updated: (store, { chat_id, user_id, name, display_name, status_text, avatar_url }) => {
    store.changeUser(user_id, { display_name, status_text, avatar_url });
    store.changeChat(chat_id, ({ peer }) =>
      peer?.user_id === user_id ? { peer: { ...peer, name, display_name } } : {},
    );
  },
  preferences_changed: (store, { preferences: { chat_id, ...preferences } }, _, loads) => {
    if (store.chat(chat_id)) store.changeChat(chat_id, () => preferences);
    else loads.chat(chat_id);
  },
  message_pinned: (store, { chat_id, message_id }) =>
    store.changeChat(chat_id, ({ pins }) => ({ pins: [message_id, ...pins.filter((id) => id !== message_id)] })),
  message_unpinned: (store, { chat_id, message_id }) => store.unpin(chat_id, message_id),
  reaction_added: loadMessage,
  reaction_removed: loadMessage,
  typing: (store, { chat_id, user_id }) => store.startTyping(chat_id, user_id),
  presence_changed: (store, change) => store.setPresence([change]),
  deliveries_changed: (store, change) => {
    store.changedDeliveries.value = change;
  },
  message_read: (store, { chat_id, user_id, message_id }, _, loads) => {
    if (user_id !== store.me.user_id) return;
    if (store.unreadThreads.value > 0) loads.threads();
    if (message_id < store.newestId(chat_id)) loads.chat(chat_id);
    else store.changeChat(chat_id, () => ({ last_read_id: message_id, unread_count: 0, mention_count: 0 }));
  },
};

/** Applies an event or a signal. Ignores those that the client does not know. */
export function apply(store: Store, { event, data, timestamp }: Streamed, loads: Loads): void {
  const handler = handlers[event as keyof Handlers] as Handler<unknown> | undefined;
  // In a batch, a view that reads several records renders once.
  batch(() => handler?.(store, data, timestamp, loads));
}

export function messageOf(data: EventData['new_message'], at: string): MessageRecord {
  return {
    reactions: [],
    edited_at: null,
    deleted_at: null,
    ...data,
    created_at: at,
    reply_to: data.reply_to ?? null,
    file: data.file ?? null,
  };
}

const tombstone = (
  { mentions: _, mentions_all: __, files: ___, ...message }: MessageRecord,
  at: string,
): MessageRecord => ({
  ...message,
  content: '',
  file: null,
  files: undefined,
  reactions: [],
  deleted_at: at,
});

/** Returns the record of one chat as the server sent it. Its place in the list is that of its newest message, or the known one. */
export const chatRecord = (sent: SentChat, known: ChatRecord | undefined, now: number): ChatRecord => ({
  ...sent,
  activity: Math.max(sent.last_message_id ?? 0, known?.activity ?? now),
});

/** Returns the records of a list by activity. A chat without newer messages, such as one just joined, keeps its place in it. */
export function listRecords(sent: readonly SentChat[]): ChatRecord[] {
  const records: ChatRecord[] = [];
  let below = 0;
  for (const chat of sent.toReversed()) {
    below = Math.max(chat.last_message_id ?? 0, below + placeStep);
    records.push({ ...chat, activity: below });
  }
  return records.reverse();
}
