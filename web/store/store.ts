import type { Participant, SignalData } from '@parley-chat/sdk';
import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import {
  type ChatRecord,
  isMuted,
  type Me,
  type MessageRecord,
  type Preview,
  previewOf,
  type UserRecord,
} from './records.ts';
import type { ThreadList } from './threads.ts';
import { addNew, lastId, pageSize, type Timeline, update } from './timeline.ts';

/** Is told which records a change concerns, in order to store or load them. */
export interface StoreListener {
  chatsChanged?(chatIds: readonly number[]): void;
  usersChanged?(userIds: readonly number[]): void;
  timelineChanged?(chatId: number): void;
  /** A message that the stream has brought. The same one may come again. */
  messageArrived?(message: MessageRecord): void;
  /** Users whose names a view needs. */
  usersNeeded?(userIds: readonly number[]): void;
}

export type Presence = SignalData['presence_changed']['presence'];

/** A person counts as typing for this long after each signal. */
const typingMs = 6_000;

/** A message and the replies in its thread. */
export interface LoadedThread {
  readonly root: MessageRecord;
  readonly replies: Timeline;
}

const maxThreads = 5;

/** The first steps of an administrator that the store cannot know of. */
export interface Setup {
  /** Somebody was invited, or has an account. */
  readonly isInvited: boolean;
  /** There is a webhook. */
  readonly isConnected: boolean;
}

/** The newest timelines stay in memory. */
const maxTimelines = 20;

/** The state of the client. Views read its signals; sync, outbox and loaders change it. */
export class Store {
  readonly me: Me;
  readonly chats: Signal<ReadonlyMap<number, ChatRecord>> = signal(new Map());
  readonly users: Signal<ReadonlyMap<number, UserRecord>> = signal(new Map());
  /** The signed-in person, with what they have changed since the page was loaded. */
  readonly self: ReadonlySignal<UserRecord>;
  /** The participants of chats, as far as a view needed them. */
  readonly participants: Signal<ReadonlyMap<number, readonly Participant[]>> = signal(new Map());
  /** Who is online or away, of those that are shown with it. */
  readonly presence: Signal<ReadonlyMap<number, Presence>> = signal(new Map());
  /** The users who are typing, by chat. */
  readonly typing: Signal<ReadonlyMap<number, readonly number[]>> = signal(new Map());
  readonly #typingTimers = new Map<string, ReturnType<typeof setTimeout>>();
  /** The name of this service. */
  readonly serviceName = signal('Parley');
  /** The first steps that are done so far. Undefined until they are loaded. */
  readonly setup: Signal<Setup | undefined> = signal(undefined);
  /** False until there is something to show. */
  readonly isReady = signal(false);
  /** Whether somebody looks at the page. */
  readonly isVisible = signal(true);
  /** The last signal about deliveries of a webhook. The console loads them again. */
  readonly changedDeliveries: Signal<SignalData['deliveries_changed'] | undefined> = signal(undefined);
  readonly connection: Signal<'connecting' | 'live' | 'lost'> = signal('connecting');
  /** The chats of the list: those that are pinned, then the others, the most recent first. */
  readonly byActivity: ReadonlySignal<readonly ChatRecord[]> = computed(() =>
    [...this.chats.value.values()].filter(({ archived }) => !archived).sort(compareChats),
  );
  readonly archived: ReadonlySignal<readonly ChatRecord[]> = computed(() =>
    [...this.chats.value.values()].filter(({ archived }) => archived).sort(compareChats),
  );
  /** The chats with something to read. A muted one counts only if somebody mentions the user. */
  readonly unreadChats: ReadonlySignal<number> = computed(
    () =>
      this.byActivity.value.filter((chat) => chat.mention_count > 0 || (chat.unread_count > 0 && !isMuted(chat)))
        .length,
  );
  /** The threads in which the user has written, the one with the newest reply first. */
  readonly myThreads: Signal<ThreadList | undefined> = signal(undefined);
  readonly unreadThreads: ReadonlySignal<number> = computed(
    () => this.myThreads.value?.threads.filter(({ unread_count }) => unread_count > 0).length ?? 0,
  );
  /** Threads by their first message, the one that was last opened at the end. */
  readonly threads: Signal<ReadonlyMap<number, LoadedThread>> = signal(new Map());
  readonly #timelines = new Map<number, Signal<Timeline | undefined>>();
  readonly #listeners: StoreListener[] = [];
  /** For each request that is under way: the changes since it began. */
  readonly #missed = new Set<(() => void)[]>();
  /** What a change consists of is not repeated on its own. */
  #isChanging = false;

  constructor(me: Me) {
    this.me = me;
    const first: UserRecord = { ...me, kind: 'person', status_text: '', avatar_url: null };
    this.users.value = new Map([[me.user_id, first]]);
    this.self = computed(() => this.users.value.get(me.user_id) ?? first);
  }

  listen(listener: StoreListener): void {
    this.#listeners.push(listener);
  }

  /** Puts what is loaded into the store. An event may overtake the response, so changes since the request are made again. */
  async load<Response>(request: () => Promise<Response>, put: (response: Response) => void): Promise<void> {
    const missed: (() => void)[] = [];
    this.#missed.add(missed);
    try {
      const response = await request();
      batch(() => {
        put(response);
        for (const change of missed) this.#change(change, false);
      });
    } finally {
      this.#missed.delete(missed);
    }
  }

  /** Makes a change that is safe to repeat. */
  #change(change: () => void, isNew = !this.#isChanging): void {
    if (isNew) for (const missed of this.#missed) missed.push(change);
    const wasChanging = this.#isChanging;
    this.#isChanging = true;
    try {
      change();
    } finally {
      this.#isChanging = wasChanging;
    }
  }

  chat(chatId: number): ChatRecord | undefined {
    return this.chats.value.get(chatId);
  }

  /** Adds or replaces chats. */
  putChats(records: readonly ChatRecord[]): void {
    if (records.length === 0) return;
    const chats = new Map(this.chats.value);
    for (const chat of records) chats.set(chat.chat_id, chat);
    this.chats.value = chats;
    this.#chatsChanged(records.map(({ chat_id }) => chat_id));
  }

  /** Replaces all chats. */
  setChats(records: readonly ChatRecord[]): void {
    const before = this.chats.value;
    this.chats.value = new Map(records.map((chat) => [chat.chat_id, chat]));
    this.#chatsChanged([...new Set([...before.keys(), ...this.chats.value.keys()])]);
  }

  removeChat(chatId: number): void {
    this.#change(() => {
      const chats = new Map(this.chats.value);
      if (!chats.delete(chatId)) return;
      this.chats.value = chats;
      this.#timelines.delete(chatId);
      this.#chatsChanged([chatId]);
      this.#timelineChanged(chatId);
    });
  }

  /** Changes a chat if it is known. */
  changeChat(chatId: number, change: (chat: ChatRecord) => Partial<ChatRecord>): void {
    this.#change(() => {
      const chat = this.chat(chatId);
      if (chat) this.putChats([{ ...chat, ...change(chat) }]);
    });
  }

  /** A message is not pinned any more. */
  unpin(chatId: number, messageId: number): void {
    if (!this.chat(chatId)?.pins.includes(messageId)) return;
    this.changeChat(chatId, ({ pins }) => ({ pins: pins.filter((id) => id !== messageId) }));
  }

  putUsers(records: readonly UserRecord[]): void {
    if (records.length === 0) return;
    const users = new Map(this.users.value);
    for (const user of records) users.set(user.user_id, user);
    this.users.value = users;
    for (const listener of this.#listeners) listener.usersChanged?.(records.map(({ user_id }) => user_id));
  }

  /** Returns a user, and asks for it if it is unknown. */
  user(userId: number): UserRecord | undefined {
    const user = this.users.value.get(userId);
    if (!user) for (const listener of this.#listeners) listener.usersNeeded?.([userId]);
    return user;
  }

  /** Forgets all users but the signed-in one. */
  forgetUsers(): void {
    this.users.value = new Map([...this.users.value].filter(([id]) => id === this.me.user_id));
  }

  /** Changes a user if it is known. */
  changeUser(userId: number, change: Partial<UserRecord>): void {
    const user = this.users.value.get(userId);
    if (user) this.putUsers([{ ...user, ...change }]);
  }

  putParticipants(chatId: number, people: readonly Participant[]): void {
    this.participants.value = new Map(this.participants.value).set(chatId, people);
  }

  /** Somebody has joined or left. */
  forgetParticipants(chatId: number): void {
    if (!this.participants.value.has(chatId)) return;
    this.participants.value = new Map([...this.participants.value].filter(([id]) => id !== chatId));
  }

  setPresence(found: readonly SignalData['presence_changed'][]): void {
    const presence = new Map(this.presence.value);
    for (const { user_id, presence: now } of found) presence.set(user_id, now);
    this.presence.value = presence;
  }

  /** Somebody types. */
  startTyping(chatId: number, userId: number): void {
    if (userId === this.me.user_id) return;
    this.stopTyping(chatId, userId);
    this.#typingTimers.set(
      `${chatId} ${userId}`,
      setTimeout(() => this.stopTyping(chatId, userId), typingMs),
    );
    const typing = [...(this.typing.value.get(chatId) ?? []), userId].sort((a, b) => a - b);
    this.typing.value = new Map(this.typing.value).set(chatId, typing);
  }

  /** Somebody has sent a message, or was silent for a while. */
  stopTyping(chatId: number, userId: number): void {
    const key = `${chatId} ${userId}`;
    clearTimeout(this.#typingTimers.get(key));
    if (!this.#typingTimers.delete(key)) return;
    const left = (this.typing.value.get(chatId) ?? []).filter((id) => id !== userId);
    this.typing.value = new Map(this.typing.value).set(chatId, left);
  }

  /** The timeline of a chat. Undefined until it is loaded. */
  timeline(chatId: number): Signal<Timeline | undefined> {
    const found = this.#timelines.get(chatId) ?? signal<Timeline | undefined>(undefined);
    // The order of the map is that of their use.
    this.#timelines.delete(chatId);
    this.#timelines.set(chatId, found);
    for (const oldest of this.#timelines.keys()) {
      if (this.#timelines.size <= maxTimelines) break;
      this.#timelines.delete(oldest);
    }
    return found;
  }

  /** Returns a timeline without keeping it in memory for it. */
  peekTimeline(chatId: number): Timeline | undefined {
    return this.#timelines.get(chatId)?.peek();
  }

  setTimeline(chatId: number, timeline: Timeline): void {
    this.timeline(chatId).value = timeline;
    this.#timelineChanged(chatId);
  }

  /** Changes a timeline if it is loaded. */
  changeTimeline(chatId: number, change: (timeline: Timeline) => Timeline): void {
    const held = this.#timelines.get(chatId);
    if (!held?.value) return;
    const changed = change(held.value);
    if (changed === held.value) return;
    held.value = changed;
    this.#timelineChanged(chatId);
  }

  setThread(thread: LoadedThread): void {
    const { message_id } = thread.root;
    const others = [...this.threads.value].filter(([id]) => id !== message_id);
    this.threads.value = new Map([...others.slice(1 - maxThreads), [message_id, thread]]);
  }

  /** Changes a thread if it is loaded. */
  changeThread(rootId: number, change: (thread: LoadedThread) => LoadedThread): void {
    const thread = this.threads.value.get(rootId);
    if (thread) this.threads.value = new Map(this.threads.value).set(rootId, change(thread));
  }

  /** Forgets the messages of all chats. */
  dropTimelines(): void {
    for (const timeline of this.#timelines.values()) timeline.value = undefined;
    this.threads.value = new Map();
  }

  /** Adds a new message to its timeline and to the list. Safe to repeat. */
  addMessage(message: MessageRecord): void {
    this.stopTyping(message.chat_id, message.user_id);
    this.#change(() => this.#addMessage(message));
  }

  #addMessage(message: MessageRecord): void {
    this.changeTimeline(message.chat_id, (timeline) => addNew(timeline, message));
    if (message.thread_id !== undefined) this.#addReply(message, message.thread_id);
    this.changeChat(message.chat_id, (chat) =>
      message.message_id <= (chat.last_message_id ?? 0)
        ? {}
        : {
            last_message_id: message.message_id,
            last_message: previewOf(message),
            activity: message.message_id,
            unread_count: chat.unread_count + (message.user_id === this.me.user_id ? 0 : 1),
            mention_count: chat.mention_count + (this.isMentioned(message) ? 1 : 0),
          },
    );
  }

  /** Tells listeners of a message that is new to everybody. */
  tellArrived(message: MessageRecord): void {
    for (const listener of this.#listeners) listener.messageArrived?.(message);
  }

  /** Adds a reply to its thread. The first message counts each reply once, because their ids rise. */
  #addReply(reply: MessageRecord, rootId: number): void {
    this.changeThread(rootId, (thread) => ({ ...thread, replies: addNew(thread.replies, reply) }));
    this.changeMessage(reply.chat_id, rootId, (root) =>
      reply.message_id <= (root.last_reply_id ?? 0)
        ? root
        : {
            ...root,
            reply_count: (root.reply_count ?? 0) + 1,
            last_reply_id: reply.message_id,
            last_reply_at: reply.created_at,
          },
    );
  }

  /** Returns whether somebody else mentions the user. */
  isMentioned({ user_id, mentions, mentions_all }: MessageRecord): boolean {
    return user_id !== this.me.user_id && (mentions_all === true || mentions?.includes(this.me.user_id) === true);
  }

  /** Replaces a message wherever it is shown. */
  putMessage(message: MessageRecord): void {
    this.changeMessage(message.chat_id, message.message_id, () => message);
  }

  changeMessage(chatId: number, messageId: number, change: (message: MessageRecord) => MessageRecord): void {
    this.#change(() => this.#changeMessage(chatId, messageId, change));
  }

  #changeMessage(chatId: number, messageId: number, change: (message: MessageRecord) => MessageRecord): void {
    this.changeTimeline(chatId, (timeline) =>
      update(timeline, messageId, (message) => {
        const changed = change(message);
        this.changePreview(chatId, messageId, previewOf(changed));
        return changed;
      }),
    );
    for (const [rootId, { root, replies }] of this.threads.value) {
      const isIn = rootId === messageId || replies.messages.some(({ message_id }) => message_id === messageId);
      if (!isIn) continue;
      this.changeThread(rootId, () => ({
        root: rootId === messageId ? change(root) : root,
        replies: update(replies, messageId, change),
      }));
    }
  }

  /** Changes the preview of a chat if it shows this message. */
  changePreview(chatId: number, messageId: number, change: Partial<Preview>): void {
    const { last_message } = this.chat(chatId) ?? {};
    if (last_message?.message_id !== messageId) return;
    this.changeChat(chatId, () => ({ last_message: { ...last_message, ...change } }));
  }

  /** The preview of a chat follows its newest message, if that is loaded. */
  previewFromTimeline(chatId: number): void {
    const timeline = this.#timelines.get(chatId)?.value;
    const newest = timeline?.hasNewer ? undefined : timeline?.messages.at(-1);
    if (newest && newest.message_id >= (this.chat(chatId)?.last_message_id ?? 0)) {
      this.changeChat(chatId, () => ({ last_message: previewOf(newest), last_message_id: newest.message_id }));
    }
  }

  /** Returns the read marker of a chat, if the newest page of messages does not reach back to it. */
  farMarker(chatId: number): number | undefined {
    const { last_read_id = null, unread_count = 0 } = this.chat(chatId) ?? {};
    if (last_read_id === null || unread_count < pageSize) return undefined;
    const isLoaded = this.peekTimeline(chatId)?.messages.some(({ message_id }) => message_id <= last_read_id);
    return isLoaded ? undefined : last_read_id;
  }

  newestId(chatId: number): number {
    return Math.max(this.chat(chatId)?.last_message_id ?? 0, lastId(this.#timelines.get(chatId)?.value ?? noMessages));
  }

  #chatsChanged(chatIds: readonly number[]): void {
    for (const listener of this.#listeners) listener.chatsChanged?.(chatIds);
  }

  #timelineChanged(chatId: number): void {
    for (const listener of this.#listeners) listener.timelineChanged?.(chatId);
  }
}

const noMessages = { messages: [] };

const compareChats = (a: ChatRecord, b: ChatRecord): number =>
  Number(b.pinned) - Number(a.pinned) || b.activity - a.activity || b.chat_id - a.chat_id;
