import { expect, test } from 'bun:test';
import type { Chat, EventData, EventName, Thread } from '@parley/contract';
import fc from 'fast-check';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { picture } from '../support/pictures.ts';
import { serverFor, type TestServer } from '../support/server.ts';

type Preferences = Pick<Chat, 'notify' | 'muted_until' | 'archived' | 'pinned'>;

/** A client's view of one chat. Events alone keep it up to date. */
interface ChatState {
  /** Whose view it is, and their read marker, which nobody moves here. */
  readonly reader: number;
  readonly marker: number;
  lastMessage: LastMessageState | null;
  unreadCount: number;
  mentionCount: number;
  /** The messages of the chat in `messages.mentions`, newest first. */
  mentionedIn: number[];
  name: string | null;
  description: string;
  visibility: string;
  preferences: Preferences;
  pins: number[];
  roles: Record<number, string>;
  /** The profiles of the participants. */
  profiles: Record<number, string>;
  messages: Record<number, MessageState>;
}

type LastMessageState = Omit<NonNullable<Chat['last_message']>, 'name' | 'display_name'>;

interface MessageState {
  author: number;
  content: string;
  files: number[];
  deleted: boolean;
  reactions: Record<string, number>;
  mentions: readonly number[];
  mentionsAll: boolean;
  thread: number | undefined;
  replyCount: number;
  lastReply: number | undefined;
}
type State = Record<number, ChatState>;

/** Everything that one user sees. */
interface View {
  readonly chats: State;
  /** The ids of the chats by activity, without those that are archived. */
  readonly order: readonly number[];
  readonly mentions: readonly number[];
  readonly threads: readonly ThreadState[];
}

type ThreadState = Omit<Thread, 'message' | 'last_reply_at'> & { readonly thread_id: number };

const preferencesIn = ({ notify, muted_until, archived, pinned }: Preferences): Preferences => ({
  notify,
  muted_until,
  archived,
  pinned,
});

const mentionsIn = (said: { mentions?: readonly number[] | undefined; mentions_all?: boolean | undefined }) => ({
  mentions: said.mentions ?? [],
  mentionsAll: said.mentions_all ?? false,
});

const lastMessageIn = (last: Chat['last_message']): LastMessageState | null => {
  if (last === null) return null;
  const { name: _name, display_name: _displayName, ...rest } = last;
  return rest;
};

/** Reads everything that one user sees. */
async function snapshot(user: Client): Promise<View> {
  const { chats } = await user.ok('chats.list', { limit: 200 });
  const { chats: byActivity } = await user.ok('chats.list', { order: 'activity', limit: 200 });
  const { messages: mentioning } = await user.ok('messages.mentions', { limit: 200 });
  const { threads } = await user.ok('messages.threads', { limit: 200 });
  const states = chats.map(async (chat): Promise<[number, ChatState]> => {
    const { chat_id } = chat;
    const { participants } = await user.ok('chats.participants', { chat_id });
    const { messages } = await user.ok('messages.get_messages', { chat_id, limit: 200 });
    return [
      chat_id,
      {
        reader: user.userId,
        marker: participants.find((p) => p.user_id === user.userId)?.last_read_id ?? 0,
        lastMessage: lastMessageIn(chat.last_message),
        unreadCount: chat.unread_count,
        mentionCount: chat.mention_count,
        mentionedIn: mentioning.filter((m) => m.chat_id === chat_id).map((m) => m.message_id),
        name: chat.name,
        description: chat.description,
        visibility: chat.visibility,
        preferences: preferencesIn(chat),
        pins: chat.pins,
        roles: Object.fromEntries(participants.map((p) => [p.user_id, p.role])),
        profiles: Object.fromEntries(await Promise.all(participants.map((p) => profileOf(user, p.user_id)))),
        messages: Object.fromEntries(
          messages.map((m) => [
            m.message_id,
            {
              author: m.user_id,
              content: m.content,
              files: (m.files ?? (m.file ? [m.file] : [])).map(({ file_id }) => file_id),
              deleted: m.deleted_at !== null,
              reactions: Object.fromEntries(m.reactions.map((r) => [r.emoji, r.count])),
              ...mentionsIn(m),
              thread: m.thread_id,
              replyCount: m.reply_count ?? 0,
              lastReply: m.last_reply_id,
            },
          ]),
        ),
      },
    ];
  });
  return {
    chats: Object.fromEntries(await Promise.all(states)),
    order: byActivity.map(({ chat_id }) => chat_id),
    mentions: mentioning.map(({ message_id }) => message_id),
    threads: threads.map(({ message, reply_count, last_reply_id, unread_count }) => ({
      thread_id: message.message_id,
      reply_count,
      last_reply_id,
      unread_count,
    })),
  };
}

/** Returns the threads in which the reader of the chats has written, from the messages of these chats. */
function threadsIn(chats: State): ThreadState[] {
  const threads = Object.values(chats).flatMap(({ reader, marker, messages }) => {
    const entries = Object.entries(messages).map(([id, message]) => ({ id: Number(id), ...message }));
    return entries.flatMap(({ id, author, replyCount, lastReply }): ThreadState[] => {
      const replies = entries.filter(({ thread }) => thread === id);
      const writers = [author, ...replies.map((reply) => reply.author)];
      if (lastReply === undefined || !writers.includes(reader)) return [];
      const unread = replies.filter((reply) => !reply.deleted && reply.author !== reader && reply.id > marker);
      const counts = { reply_count: replyCount, unread_count: unread.length };
      return [{ thread_id: id, last_reply_id: lastReply as Thread['last_reply_id'], ...counts }];
    });
  });
  return threads.sort((a, b) => b.last_reply_id - a.last_reply_id);
}

const profileFields = ['display_name', 'status_text', 'time_zone', 'avatar_url'] as const;

/** The profile of somebody who joined, until it is read or an event says what it is. */
const unreadProfile = 'unread';

/** Returns a profile as text. */
const profileText = (profile: Readonly<Record<(typeof profileFields)[number], string | null>>): string =>
  JSON.stringify(profileFields.map((field) => profile[field]));

async function profileOf(reader: Client, user_id: number): Promise<[number, string]> {
  const { user } = await reader.ok('users.get', { user_id });
  if (!user) throw new Error(`there is no user ${user_id}`);
  return [user_id, profileText(user)];
}

type Founding = 'group_created' | 'channel_created' | 'direct_created';

type Unread = Omit<ChatState, 'reader'>;

const found = (data: EventData<Founding>, name: string | null, visibility: string, creator: string): Unread => ({
  marker: 0,
  lastMessage: null,
  unreadCount: 0,
  mentionCount: 0,
  mentionedIn: [],
  name,
  description: '',
  visibility,
  preferences: { notify: 'all', muted_until: null, archived: false, pinned: false },
  pins: [],
  roles: Object.fromEntries(data.participants.map((id) => [id, id === data.user_id ? creator : 'member'])),
  profiles: Object.fromEntries(data.participants.map((id) => [id, unreadProfile])),
  messages: {},
});

/** Builds a new chat from its event. The event lacks the visibility of a channel; all channels here start public. */
const founded: { [E in Founding]: (data: EventData<E>) => Unread } = {
  group_created: (d) => found(d, d.name, 'private', 'owner'),
  channel_created: (d) => found(d, d.name, 'public', 'owner'),
  direct_created: (d) => found(d, null, 'private', 'member'),
};

const isFounding = (event: ChatEvent): event is Founding => event in founded;

/** Applies an event to a chat. */
type ChatEvent = Exclude<EventName, 'webhook_disabled'>;

type Apply = { [E in Exclude<ChatEvent, Founding>]: (chat: ChatState, data: EventData<E>, at: string) => void };

const unanswered = { deleted: false, replyCount: 0, lastReply: undefined };

/** Counts the replies in a thread again, from the messages that the client has. */
function countReplies(chat: ChatState, thread: number | undefined): void {
  const root = thread === undefined ? undefined : chat.messages[thread];
  if (!root) return;
  const replies = Object.entries(chat.messages).filter(([, m]) => m.thread === thread && !m.deleted);
  root.replyCount = replies.length;
  root.lastReply = replies.length === 0 ? undefined : Math.max(...replies.map(([id]) => Number(id)));
}

/** A message, as far as an event says. */
interface Said {
  readonly message_id: number;
  readonly user_id: number;
}

/** Adds a message to the mentions of the reader, or takes it from there, if it is one. */
function countMention(
  chat: ChatState,
  { message_id, user_id }: Said,
  said: Parameters<typeof mentionsIn>[0],
  by: 1 | -1,
) {
  const { mentions, mentionsAll } = mentionsIn(said);
  const concerns = mentionsAll || mentions.includes(chat.reader);
  if (!concerns || user_id === chat.reader || message_id <= chat.marker) return;
  chat.mentionCount += by;
  const others = chat.mentionedIn.filter((id) => id !== message_id);
  chat.mentionedIn = by === 1 ? [...others, message_id].sort((a, b) => b - a) : others;
}

function countUnread(chat: ChatState, { message_id, user_id }: Said, by: 1 | -1): void {
  if (user_id !== chat.reader && message_id > chat.marker) chat.unreadCount += by;
}

function changeLastMessage(chat: ChatState, messageId: number, change: Partial<LastMessageState>): void {
  if (chat.lastMessage?.message_id === messageId) Object.assign(chat.lastMessage, change);
}

const apply: Apply = {
  new_message: (chat, d, at) => {
    countUnread(chat, d, 1);
    countMention(chat, d, d, 1);
    const { message_id, user_id } = d;
    chat.lastMessage = { message_id, user_id, content: d.content, file: d.file?.name ?? null, created_at: at };
    const { user_id: author, content } = d;
    const files = (d.files ?? (d.file ? [d.file] : [])).map(({ file_id }) => file_id);
    const state = { ...unanswered, author, content, files, ...mentionsIn(d), thread: d.thread_id };
    chat.messages[d.message_id] = { ...state, reactions: {} };
    countReplies(chat, d.thread_id);
  },
  message_edited: (chat, d) => {
    countMention(chat, d, { mentions: d.previous_mentions, mentions_all: d.previous_mentions_all }, -1);
    countMention(chat, d, d, 1);
    changeLastMessage(chat, d.message_id, { content: d.content });
    const message = chat.messages[d.message_id];
    expect(message?.content).toBe(d.previous_content);
    if (message) Object.assign(message, { content: d.content, ...mentionsIn(d) });
  },
  message_deleted: (chat, d) => {
    countUnread(chat, d, -1);
    countMention(chat, d, d, -1);
    changeLastMessage(chat, d.message_id, { content: '', file: null });
    const author = d.user_id;
    const { replyCount = 0, lastReply } = chat.messages[d.message_id] ?? {};
    const left = {
      ...unanswered,
      author,
      content: '',
      files: [],
      deleted: true,
      ...mentionsIn({}),
      thread: d.thread_id,
    };
    chat.messages[d.message_id] = { ...left, reactions: {}, replyCount, lastReply };
    countReplies(chat, d.thread_id);
    chat.pins = chat.pins.filter((id) => id !== d.message_id);
  },
  user_joined: (chat, d) => {
    chat.roles[d.user_id] = 'member';
    chat.profiles[d.user_id] = unreadProfile;
  },
  user_left: (chat, d) => {
    delete chat.roles[d.user_id];
    delete chat.profiles[d.user_id];
  },
  role_changed: (chat, d) => {
    expect(chat.roles[d.user_id]).toBe(d.previous_role);
    chat.roles[d.user_id] = d.role;
  },
  chat_updated: (chat, d) => {
    Object.assign(chat, { name: d.name, description: d.description, visibility: d.visibility });
  },
  message_pinned: (chat, d) => {
    chat.pins.unshift(d.message_id);
  },
  message_unpinned: (chat, d) => {
    expect(chat.pins).toContain(d.message_id);
    chat.pins = chat.pins.filter((id) => id !== d.message_id);
  },
  preferences_changed: (chat, d) => {
    chat.preferences = preferencesIn(d.preferences);
  },
  user_updated: (chat, d) => {
    expect(chat.roles).toHaveProperty(String(d.user_id));
    chat.profiles[d.user_id] = profileText(d);
  },
  reaction_added: (chat, d) => {
    const reactions = chat.messages[d.message_id]?.reactions ?? {};
    reactions[d.emoji] = (reactions[d.emoji] ?? 0) + 1;
  },
  reaction_removed: (chat, d) => {
    const reactions = chat.messages[d.message_id]?.reactions ?? {};
    const left = (reactions[d.emoji] ?? 0) - 1;
    if (left > 0) reactions[d.emoji] = left;
    else delete reactions[d.emoji];
  },
};

/** The place of a chat by activity: the event of it, or else one below all events. */
interface Place {
  readonly at: number;
  /** The activity is that the user has joined. */
  readonly isJoining: boolean;
}

type Places = Map<number, Place>;

/**
 * Returns the ids of chats in one order for both sides. The server sorts chats by their ids if the user has joined them
 * between the same two messages of the service, which no client sees.
 */
function comparable(order: readonly number[], places: Places): number[] {
  const runs: number[][] = [];
  let isRun = false;
  for (const chatId of order) {
    const isJoining = places.get(chatId)?.isJoining ?? false;
    if (isRun && isJoining) runs.at(-1)?.push(chatId);
    else runs.push([chatId]);
    isRun = isJoining;
  }
  return runs.flatMap((run) => run.sort((a, b) => b - a));
}

/** Applies events to a snapshot. A chat that the user has joined since is read again, as a client would. */
async function replay(
  user: Client,
  { chats: state, order }: View,
  after: number,
): Promise<{ kept: View; fresh: View }> {
  const unread = new Set<number>();
  // Chats that were archived have no known place until something happens in them.
  const places: Places = new Map(order.map((chatId, i) => [chatId, { at: -i, isJoining: false }]));
  for (let cursor = after, more = true; more; ) {
    const page = await user.ok('events.list', { after: cursor, limit: 5 });
    for (const { event_id, event, timestamp, data } of page.events as unknown as Happening[]) {
      const chatId = 'preferences' in data ? data.preferences.chat_id : data.chat_id;
      const isOwn = 'user_id' in data && data.user_id === user.userId;
      const isJoining = isFounding(event) || (event === 'user_joined' && isOwn);
      if (isJoining || event === 'new_message') places.set(chatId, { at: event_id, isJoining });
      if (isFounding(event)) {
        const chat = (founded[event] as (data: EventData<ChatEvent>) => Unread)(data);
        state[chatId] = { reader: user.userId, ...chat };
      } else if (event === 'user_left' && isOwn) {
        delete state[chatId];
        unread.delete(chatId);
        places.delete(chatId);
      } else if (isJoining) unread.add(chatId);
      else if (!unread.has(chatId)) {
        const chat = state[chatId];
        expect(chat).toBeDefined();
        const change = apply[event] as (chat: ChatState, data: EventData<ChatEvent>, at: string) => void;
        if (chat) change(chat, data, timestamp);
      }
    }
    cursor = page.next;
    more = page.has_more;
  }
  const fresh = await snapshot(user);
  for (const chatId of unread) {
    const chat = fresh.chats[chatId];
    if (chat) state[chatId] = chat;
  }
  for (const [chatId, { profiles }] of Object.entries(state)) {
    for (const [userId, profile] of Object.entries(profiles)) {
      if (profile === unreadProfile)
        profiles[Number(userId)] = fresh.chats[Number(chatId)]?.profiles[Number(userId)] ?? profile;
    }
  }
  const placed = [...places].filter(([chatId]) => !state[chatId]?.preferences.archived);
  const kept = {
    chats: state,
    order: comparable(
      placed.sort(([, a], [, b]) => b.at - a.at).map(([chatId]) => chatId),
      places,
    ),
    mentions: Object.values(state)
      .flatMap(({ mentionedIn }) => mentionedIn)
      .sort((a, b) => b - a),
    threads: threadsIn(state),
  };
  const known = fresh.order.filter((chatId) => places.has(chatId));
  return { kept, fresh: { ...fresh, order: comparable(known, places) } };
}

interface Happening {
  readonly event_id: number;
  readonly event: ChatEvent;
  readonly timestamp: string;
  readonly data: EventData<ChatEvent>;
}

/** One random call. The numbers choose the user, the chat and the message. Many calls are refused. */
interface Act {
  kind: (typeof kinds)[number];
  who: number;
  whom: number;
  what: number;
}
const kinds = [
  'send',
  'send',
  'send',
  'reply',
  'reply',
  'files',
  'edit',
  'edit',
  'delete',
  'delete',
  'react',
  'unreact',
  'create',
  'channel',
  'direct',
  'join',
  'add',
  'remove',
  'leave',
  'role',
  'update',
  'visibility',
  'prefer',
  'pin',
  'unpin',
  'profile',
  'zone',
  'picture',
] as const;

const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.record({ kind: fc.constantFrom(...kinds), who: fc.nat(3), whom: fc.nat(3), what: fc.nat(30) }),
  { minLength: 10, maxLength: 60 },
);

class Stage {
  readonly users: Client[];
  readonly #names: string[];
  readonly chats: number[] = [];
  readonly messages: number[] = [];

  constructor(users: Client[], names: string[]) {
    this.users = users;
    this.#names = names;
  }

  async perform({ kind, who, whom, what }: Act): Promise<void> {
    const user = this.users[who] as Client;
    const user_id = this.users[whom]?.userId ?? 0;
    const chat_id = this.chats[what % (this.chats.length || 1)] ?? 1;
    const message_id = this.messages[what % (this.messages.length || 1)] ?? 1;
    const emoji = ['👍', '🎉', 'ok'][what % 3] ?? 'ok';
    const addressed = ['', ` @${this.#names[whom]}`, ' @all', ` @${this.#names[whom]} @all`][what % 4] ?? '';
    const steps: Record<(typeof kinds)[number], () => Promise<unknown>> = {
      send: async () => {
        const { body } = await user.call('messages.send_message', { chat_id, content: `m${what}${addressed}` });
        if (body.success) this.messages.push(body.message.message_id);
      },
      reply: async () => {
        const { body: asked } = await user.call('messages.get_message', { message_id });
        if (!asked.success) return;
        const content = `r${what}${addressed}`;
        const input = { chat_id: asked.message.chat_id, content, reply_to: message_id };
        const { body } = await user.call('messages.send_message', input);
        if (body.success) this.messages.push(body.message.message_id);
      },
      files: async () => {
        const file_ids = await Promise.all(
          Array.from({ length: 1 + (what % 3) }, async (_, i) => {
            const file = new File([`file ${i}`], `f${i}`);
            return (await user.ok('files.upload', { file })).file.file_id;
          }),
        );
        const { body } = await user.call('messages.send_message', { chat_id, file_ids });
        if (body.success) this.messages.push(body.message.message_id);
      },
      edit: () => user.call('messages.edit_message', { message_id, content: `e${what}${addressed}` }),
      delete: () => user.call('messages.delete_message', { message_id }),
      react: () => user.call('messages.add_reaction', { message_id, emoji }),
      unreact: () => user.call('messages.remove_reaction', { message_id, emoji }),
      create: async () => {
        const { body } = await user.call('messages.create_group', { name: `g${what}`, participants: [user_id] });
        if (body.success) this.chats.push(body.group.chat_id);
      },
      channel: async () => {
        const input = { name: `c${what}`, visibility: 'public' as const, participants: [user_id] };
        const { body } = await user.call('messages.create_channel', input);
        if (body.success) this.chats.push(body.channel.chat_id);
      },
      direct: async () => {
        const { body } = await user.call('messages.create_direct', { user_id });
        if (body.success && !this.chats.includes(body.chat.chat_id)) this.chats.push(body.chat.chat_id);
      },
      join: () => user.call('chats.join', { chat_id }),
      add: () => user.call('chats.add_participants', { chat_id, participants: [user_id] }),
      remove: () => user.call('chats.remove_participant', { chat_id, user_id }),
      leave: () => user.call('chats.leave', { chat_id }),
      role: () =>
        user.call('chats.set_role', {
          chat_id,
          user_id,
          role: (['owner', 'admin', 'member'] as const)[what % 3] ?? 'member',
        }),
      update: () => user.call('chats.update', { chat_id, name: `n${what}`, description: `d${what % 2}` }),
      pin: () => user.call('messages.pin', { message_id }),
      unpin: () => user.call('messages.unpin', { message_id }),
      prefer: () =>
        user.call('chats.set_preferences', {
          chat_id,
          notify: (['all', 'mentions', 'none'] as const)[what % 3],
          archived: what % 2 === 0,
          ...(what % 5 === 0 && { pinned: what > 15, muted_until: what > 15 ? '2030-01-01T00:00:00Z' : null }),
        }),
      profile: () => user.call('users.update', { display_name: `p${what % 4}`, status_text: `s${what % 3}` }),
      zone: () => user.call('users.update', { time_zone: [null, 'Europe/Berlin', 'UTC'][what % 3] ?? null }),
      picture: () =>
        what % 3 === 0 ? user.call('users.remove_avatar', {}) : user.call('users.set_avatar', { file: picture() }),
      visibility: () =>
        user.call('chats.update', { chat_id, visibility: (['public', 'private'] as const)[what % 2] ?? 'public' }),
    };
    await steps[kind]();
  }
}

let people = 0;
async function newStage(server: TestServer): Promise<Stage> {
  const names = Array.from({ length: 4 }, () => `person${++people}`);
  return new Stage(await Promise.all(names.map((name) => server.user(name))), names);
}

/** Sends a message that none of the others sees. So who joins later comes before all who joined until now. */
async function somethingElsewhere(server: TestServer): Promise<void> {
  const stranger = await server.user(`person${++people}`);
  const { group } = await stranger.ok('messages.create_group', { name: 'elsewhere', participants: [] });
  await stranger.ok('messages.send_message', { chat_id: group.chat_id, content: 'hello' });
}

onAnyEngine('for every user and every history', (engine) => {
  const server = serverFor(engine);

  test('a snapshot plus the events since equals a fresh snapshot', async () => {
    await fc.assert(
      fc.asyncProperty(acts, acts, async (before, since) => {
        const stage = await newStage(server());
        await stage.perform({ kind: 'create', who: 0, whom: 1, what: 0 });
        await stage.perform({ kind: 'channel', who: 1, whom: 2, what: 0 });
        for (const act of before) await stage.perform(act);
        const starts = await Promise.all(
          stage.users.map(async (user) => ({
            view: await snapshot(user),
            after: await tip(user),
          })),
        );
        await somethingElsewhere(server());
        for (const act of since) await stage.perform(act);
        for (const [i, user] of stage.users.entries()) {
          const start = starts[i];
          if (!start) continue;
          const { kept, fresh } = await replay(user, start.view, start.after);
          expect(kept).toEqual(fresh);
        }
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });
});

async function tip(user: Client): Promise<number> {
  for (let after = 0; ; ) {
    const page = await user.ok('events.list', { after, limit: 200 });
    after = page.next;
    if (!page.has_more) return after;
  }
}
