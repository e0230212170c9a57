import { expect, test } from 'bun:test';
import type { Chat, EventData, EventName } from '@parley/contract';
import fc from 'fast-check';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { picture } from '../support/pictures.ts';
import { serverFor, type TestServer } from '../support/server.ts';

type Preferences = Pick<Chat, 'notify' | 'muted_until' | 'archived' | 'pinned'>;

/** A client's view of one chat. Events alone keep it up to date. */
interface ChatState {
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

/** Reads everything that one user sees. */
async function snapshot(user: Client): Promise<State> {
  const { chats } = await user.ok('chats.list', { limit: 200 });
  const states = chats.map(async (chat): Promise<[number, ChatState]> => {
    const { chat_id } = chat;
    const { participants } = await user.ok('chats.participants', { chat_id });
    const { messages } = await user.ok('messages.get_messages', { chat_id, limit: 200 });
    return [
      chat_id,
      {
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
  return Object.fromEntries(await Promise.all(states));
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

const found = (data: EventData<Founding>, name: string | null, visibility: string, creator: string): ChatState => ({
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
const founded: { [E in Founding]: (data: EventData<E>) => ChatState } = {
  group_created: (d) => found(d, d.name, 'private', 'owner'),
  channel_created: (d) => found(d, d.name, 'public', 'owner'),
  direct_created: (d) => found(d, null, 'private', 'member'),
};

const isFounding = (event: ChatEvent): event is Founding => event in founded;

/** Applies an event to a chat. */
type ChatEvent = Exclude<EventName, 'webhook_disabled'>;

type Apply = { [E in Exclude<ChatEvent, Founding>]: (chat: ChatState, data: EventData<E>) => void };

const unanswered = { deleted: false, replyCount: 0, lastReply: undefined };

/** Counts the replies in a thread again, from the messages that the client has. */
function countReplies(chat: ChatState, thread: number | undefined): void {
  const root = thread === undefined ? undefined : chat.messages[thread];
  if (!root) return;
  const replies = Object.entries(chat.messages).filter(([, m]) => m.thread === thread && !m.deleted);
  root.replyCount = replies.length;
  root.lastReply = replies.length === 0 ? undefined : Math.max(...replies.map(([id]) => Number(id)));
}

const apply: Apply = {
  new_message: (chat, d) => {
    const { user_id: author, content } = d;
    const files = (d.files ?? (d.file ? [d.file] : [])).map(({ file_id }) => file_id);
    const state = { ...unanswered, author, content, files, ...mentionsIn(d), thread: d.thread_id };
    chat.messages[d.message_id] = { ...state, reactions: {} };
    countReplies(chat, d.thread_id);
  },
  message_edited: (chat, d) => {
    const message = chat.messages[d.message_id];
    expect(message?.content).toBe(d.previous_content);
    if (message) Object.assign(message, { content: d.content, ...mentionsIn(d) });
  },
  message_deleted: (chat, d) => {
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

/** Applies events to a snapshot. A chat that the user has joined since is read again, as a client would. */
async function replay(user: Client, state: State, after: number): Promise<State> {
  const unread = new Set<number>();
  for (let cursor = after, more = true; more; ) {
    const page = await user.ok('events.list', { after: cursor, limit: 5 });
    for (const { event, data } of page.events as unknown as { event: ChatEvent; data: EventData<ChatEvent> }[]) {
      const chatId = 'preferences' in data ? data.preferences.chat_id : data.chat_id;
      if (isFounding(event)) state[chatId] = (founded[event] as (data: EventData<ChatEvent>) => ChatState)(data);
      else if (event === 'user_left' && 'user_id' in data && data.user_id === user.userId) {
        delete state[chatId];
        unread.delete(chatId);
      } else if (event === 'user_joined' && 'user_id' in data && data.user_id === user.userId) unread.add(chatId);
      else if (!unread.has(chatId)) {
        const chat = state[chatId];
        expect(chat).toBeDefined();
        if (chat) (apply[event] as (chat: ChatState, data: EventData<ChatEvent>) => void)(chat, data);
      }
    }
    cursor = page.next;
    more = page.has_more;
  }
  const fresh = await snapshot(user);
  for (const chatId of unread) {
    const chat = fresh[chatId];
    if (chat) state[chatId] = chat;
  }
  for (const [chatId, { profiles }] of Object.entries(state)) {
    for (const [userId, profile] of Object.entries(profiles)) {
      if (profile === unreadProfile)
        profiles[Number(userId)] = fresh[Number(chatId)]?.profiles[Number(userId)] ?? profile;
    }
  }
  return state;
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
        const input = { chat_id: asked.message.chat_id, content: `r${what}`, reply_to: message_id };
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
            state: await snapshot(user),
            after: await tip(user),
          })),
        );
        for (const act of since) await stage.perform(act);
        for (const [i, user] of stage.users.entries()) {
          const start = starts[i];
          if (start) expect(await replay(user, start.state, start.after)).toEqual(await snapshot(user));
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
