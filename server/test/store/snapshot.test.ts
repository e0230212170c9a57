import { expect, test } from 'bun:test';
import type { EventData, EventName } from '@parley/contract';
import fc from 'fast-check';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { picture } from '../support/pictures.ts';
import { serverFor, type TestServer } from '../support/server.ts';

/** A client's view of one chat. Events alone keep it up to date. */
interface ChatState {
  name: string | null;
  description: string;
  visibility: string;
  roles: Record<number, string>;
  /** The profiles of the participants. */
  profiles: Record<number, string>;
  messages: Record<
    number,
    { author: number; content: string; files: number[]; deleted: boolean; reactions: Record<string, number> }
  >;
}
type State = Record<number, ChatState>;

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
  return [user_id, profileText((await reader.ok('users.get', { user_id })).user)];
}

type Founding = 'group_created' | 'channel_created' | 'direct_created';

const found = (data: EventData<Founding>, name: string | null, visibility: string, creator: string): ChatState => ({
  name,
  description: '',
  visibility,
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

const apply: Apply = {
  new_message: (chat, d) => {
    const files = (d.files ?? (d.file ? [d.file] : [])).map(({ file_id }) => file_id);
    chat.messages[d.message_id] = { author: d.user_id, content: d.content, files, deleted: false, reactions: {} };
  },
  message_edited: (chat, d) => {
    const message = chat.messages[d.message_id];
    expect(message?.content).toBe(d.previous_content);
    if (message) message.content = d.content;
  },
  message_deleted: (chat, d) => {
    chat.messages[d.message_id] = { author: d.user_id, content: '', files: [], deleted: true, reactions: {} };
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
      const chatId = data.chat_id;
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
  readonly chats: number[] = [];
  readonly messages: number[] = [];

  constructor(users: Client[]) {
    this.users = users;
  }

  async perform({ kind, who, whom, what }: Act): Promise<void> {
    const user = this.users[who] as Client;
    const user_id = this.users[whom]?.userId ?? 0;
    const chat_id = this.chats[what % (this.chats.length || 1)] ?? 1;
    const message_id = this.messages[what % (this.messages.length || 1)] ?? 1;
    const emoji = ['👍', '🎉', 'ok'][what % 3] ?? 'ok';
    const steps: Record<(typeof kinds)[number], () => Promise<unknown>> = {
      send: async () => {
        const { body } = await user.call('messages.send_message', { chat_id, content: `m${what}` });
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
      edit: () => user.call('messages.edit_message', { message_id, content: `e${what}` }),
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
const newStage = async (server: TestServer) =>
  new Stage(await Promise.all(Array.from({ length: 4 }, () => server.user(`person${++people}`))));

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
