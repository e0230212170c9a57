import { beforeAll, describe, expect, test } from 'bun:test';
import { type ErrorCode, listOperations, type OperationName } from '@parley/contract';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';

const kinds = ['direct', 'group', 'public channel', 'private channel'] as const;
const roles = ['stranger', 'member', 'admin', 'owner'] as const;
type Kind = (typeof kinds)[number];
type Role = (typeof roles)[number];

/** A chat with a user in every role. Both sides of a direct chat are members. */
interface Scene {
  readonly chat_id: number;
  readonly actor: Client;
  /** A message of another user. */
  readonly message_id: number;
  /** A member besides the actor; the other side of a direct chat. */
  readonly member: Client;
  /** An owner besides the actor; the other side of a direct chat. */
  readonly owner: Client;
  readonly outsider: Client;
}

type Act = readonly [operation: OperationName, input: (scene: Scene) => object];

/** The calls of the actor in a scene, by act. */
const acts = {
  'see the chat': ['chats.get', ({ chat_id }) => ({ chat_id })],
  'list the participants': ['chats.participants', ({ chat_id }) => ({ chat_id })],
  'read the messages': ['messages.get_messages', ({ chat_id }) => ({ chat_id })],
  'read one message': ['messages.get_message', ({ message_id }) => ({ message_id })],
  'search in the chat': ['messages.search_messages', ({ chat_id }) => ({ chat_id, query: 'word' })],
  'list mentions in the chat': ['messages.mentions', ({ chat_id }) => ({ chat_id })],
  'follow the events': ['events.list', ({ chat_id }) => ({ chat_id })],
  'hear of events live': ['events.stream', ({ chat_id }) => ({ chat_id })],
  'mark as read': ['messages.mark_read', ({ chat_id }) => ({ chat_id })],
  'set preferences': ['chats.set_preferences', ({ chat_id }) => ({ chat_id, archived: true })],
  send: ['messages.send_message', ({ chat_id }) => ({ chat_id, content: 'hello' })],
  reply: ['messages.send_message', ({ chat_id, message_id }) => ({ chat_id, content: 'hello', reply_to: message_id })],
  react: ['messages.add_reaction', ({ message_id }) => ({ message_id, emoji: '👍' })],
  'take a reaction back': ['messages.remove_reaction', ({ message_id }) => ({ message_id, emoji: '👍' })],
  'see who reacted': ['messages.reactions', ({ message_id }) => ({ message_id, emoji: '👍' })],
  pin: ['messages.pin', ({ message_id }) => ({ message_id })],
  unpin: ['messages.unpin', ({ message_id }) => ({ message_id })],
  'list the pinned messages': ['messages.pins', ({ chat_id }) => ({ chat_id })],
  "edit another's message": ['messages.edit_message', ({ message_id }) => ({ message_id, content: 'x' })],
  "delete another's message": ['messages.delete_message', ({ message_id }) => ({ message_id })],
  'rename the chat': ['chats.update', ({ chat_id }) => ({ chat_id, name: 'Renamed' })],
  'add somebody': ['chats.add_participants', ({ chat_id, outsider }) => ({ chat_id, participants: [outsider.userId] })],
  'remove a member': ['chats.remove_participant', ({ chat_id, member }) => ({ chat_id, user_id: member.userId })],
  'remove an owner': ['chats.remove_participant', ({ chat_id, owner }) => ({ chat_id, user_id: owner.userId })],
  'make a member admin': [
    'chats.set_role',
    ({ chat_id, member }) => ({ chat_id, user_id: member.userId, role: 'admin' }),
  ],
  'become owner': ['chats.set_role', ({ chat_id, actor }) => ({ chat_id, user_id: actor.userId, role: 'owner' })],
  'hear of it by webhook': [
    'webhooks.register',
    ({ chat_id }) => ({ chat_id, url: 'http://127.0.0.1:9/', events: ['*'], secret: 's' }),
  ],
  'list incoming webhooks': ['hooks.list', ({ chat_id }) => ({ chat_id })],
  join: ['chats.join', ({ chat_id }) => ({ chat_id })],
  leave: ['chats.leave', ({ chat_id }) => ({ chat_id })],
  'show that one types': ['chats.typing', ({ chat_id }) => ({ chat_id })],
} as const satisfies Record<string, Act>;

test('every operation on a chat or a message is in the table', () => {
  const touching = listOperations().filter(({ input }) => {
    const fields = Object.keys((input as unknown as { shape: object }).shape);
    return fields.includes('chat_id') || fields.includes('message_id');
  });
  const inTable = new Set<string>(Object.values(acts).map(([operation]) => operation));
  // Its chat only filters the caller's own deliveries.
  inTable.add('webhooks.deliveries');
  // Only a page may call it: hooks.test.ts says for whom.
  inTable.add('hooks.create');
  expect(touching.map((row) => row.name).filter((name) => !inTable.has(name))).toEqual([]);
});

/**
 * The permissions. `-` is not_found: the chat, or its messages, cannot be seen.
 * `no` is forbidden: it can be seen, but not changed in this way. Anyone can see a public channel, and members its
 * messages. Nobody leaves a direct chat, which always has its two sides. Joining a chat again changes
 * nothing.
 */
// biome-ignore format: a table is read in columns
const may: Record<keyof typeof acts, readonly [direct: string, group: string, open: string, closed: string]> = {
  //                            direct    group           public channel   private channel
  //                            (stranger member admin owner; a direct chat has only the first two)
  'see the chat':              ['- ok',   '- ok ok ok',   'ok ok ok ok',   '- ok ok ok'],
  'list the participants':     ['- ok',   '- ok ok ok',   'no ok ok ok',   '- ok ok ok'],
  'read the messages':         ['- ok',   '- ok ok ok',   'no ok ok ok',   '- ok ok ok'],
  'read one message':          ['- ok',   '- ok ok ok',   '- ok ok ok',    '- ok ok ok'],
  'search in the chat':        ['- ok',   '- ok ok ok',   'no ok ok ok',   '- ok ok ok'],
  'list mentions in the chat': ['- ok',   '- ok ok ok',   'no ok ok ok',   '- ok ok ok'],
  'follow the events':         ['- ok',   '- ok ok ok',   '- ok ok ok',    '- ok ok ok'],
  'hear of events live':       ['- ok',   '- ok ok ok',   '- ok ok ok',    '- ok ok ok'],
  'hear of it by webhook':     ['- ok',   '- ok ok ok',   'no ok ok ok',   '- ok ok ok'],
  'list incoming webhooks':    ['- ok',   '- ok ok ok',   'no ok ok ok',   '- ok ok ok'],
  'mark as read':              ['- ok',   '- ok ok ok',   'no ok ok ok',   '- ok ok ok'],
  'set preferences':           ['- ok',   '- ok ok ok',   'no ok ok ok',   '- ok ok ok'],
  send:                        ['- ok',   '- ok ok ok',   'no no ok ok',   '- no ok ok'],
  reply:                       ['- ok',   '- ok ok ok',   'no no ok ok',   '- no ok ok'],
  react:                       ['- ok',   '- ok ok ok',   '- ok ok ok',    '- ok ok ok'],
  'take a reaction back':      ['- ok',   '- ok ok ok',   '- ok ok ok',    '- ok ok ok'],
  'see who reacted':           ['- ok',   '- ok ok ok',   '- ok ok ok',    '- ok ok ok'],
  pin:                         ['- ok',   '- ok ok ok',   '- no ok ok',    '- no ok ok'],
  unpin:                       ['- ok',   '- ok ok ok',   '- no ok ok',    '- no ok ok'],
  'list the pinned messages':  ['- ok',   '- ok ok ok',   'no ok ok ok',   '- ok ok ok'],
  "edit another's message":    ['- no',   '- no no no',   '- no no no',    '- no no no'],
  "delete another's message":  ['- no',   '- no ok ok',   '- no ok ok',    '- no ok ok'],
  'rename the chat':           ['- no',   '- no ok ok',   'no no ok ok',   '- no ok ok'],
  'add somebody':              ['- no',   '- no ok ok',   'no no ok ok',   '- no ok ok'],
  'remove a member':           ['- no',   '- no ok ok',   'no no ok ok',   '- no ok ok'],
  'remove an owner':           ['- no',   '- no no no',   'no no no no',   '- no no no'],
  'make a member admin':       ['- no',   '- no no ok',   'no no no ok',   '- no no ok'],
  'become owner':              ['- no',   '- no no ok',   'no no no ok',   '- no no ok'],
  join:                        ['- ok',   '- ok ok ok',   'ok ok ok ok',   '- ok ok ok'],
  leave:                       ['- no',   '- ok ok ok',   'no ok ok ok',   '- ok ok ok'],
  'show that one types':       ['- ok',   '- ok ok ok',   'no no ok ok',   '- no ok ok'],
};

const verdicts: Record<string, ErrorCode | 'ok'> = { ok: 'ok', '-': 'not_found', no: 'forbidden' };

onAnyEngine('who may do what', (engine) => {
  const server = serverFor(engine);
  let cast: Record<'stranger' | 'member' | 'admin' | 'owner' | 'other' | 'outsider', Client>;
  beforeAll(async () => {
    cast = await users(server(), 'stranger', 'member', 'admin', 'owner', 'other', 'outsider');
  });

  async function directScene(role: Role): Promise<Scene> {
    const { member, other, outsider } = cast;
    const { chat } = await member.ok('messages.create_direct', { user_id: other.userId });
    const { chat_id } = chat;
    const { message } = await other.ok('messages.send_message', { chat_id, content: 'a word' });
    return { chat_id, actor: cast[role], message_id: message.message_id, member: other, owner: other, outsider };
  }

  /** Two owners, because another rule keeps the last one from leaving. */
  async function scene(kind: Kind, role: Role): Promise<Scene> {
    if (kind === 'direct') return directScene(role);
    const { member, admin, owner, other, outsider } = cast;
    const participants = [admin, owner, other, member].map((c) => c.userId);
    const founder = await foundersOf(kind, participants);
    const { chat_id } = founder;
    await founder.by.ok('chats.set_role', { chat_id, user_id: admin.userId, role: 'admin' });
    await founder.by.ok('chats.set_role', { chat_id, user_id: owner.userId, role: 'owner' });
    const { message } = await founder.by.ok('messages.send_message', { chat_id, content: 'a word' });
    return { chat_id, actor: cast[role], message_id: message.message_id, member: other, owner: founder.by, outsider };
  }

  let founder: Client;
  beforeAll(async () => {
    ({ founder } = await users(server(), 'founder'));
  });
  async function foundersOf(kind: Kind, participants: number[]): Promise<{ chat_id: number; by: Client }> {
    if (kind === 'group') {
      const { group } = await founder.ok('messages.create_group', { name: 'Group', participants });
      return { chat_id: group.chat_id, by: founder };
    }
    const visibility = kind === 'public channel' ? 'public' : 'private';
    const { channel } = await founder.ok('messages.create_channel', { name: 'Channel', participants, visibility });
    return { chat_id: channel.chat_id, by: founder };
  }

  for (const kind of kinds) {
    const present = kind === 'direct' ? roles.slice(0, 2) : roles;
    describe(`in a ${kind}`, () => {
      for (const [act, [operation, input]] of Object.entries(acts)) {
        test(act, async () => {
          const given: Partial<Record<Role, string>> = {};
          const expected: Partial<Record<Role, string>> = {};
          const row = may[act as keyof typeof acts][kinds.indexOf(kind)]?.split(' ') ?? [];
          for (const [i, role] of present.entries()) {
            const set = await scene(kind, role);
            const { status, error } = await set.actor.call(operation, input(set) as never);
            given[role] = status === 200 ? 'ok' : (error?.code ?? `status ${status}`);
            expected[role] = verdicts[row[i] ?? ''] ?? 'not in the table';
          }
          expect(given).toEqual(expected);
        });
      }
    });
  }

  describe('owners', () => {
    test('the last one can neither leave nor step down without a successor', async () => {
      const { owner, member } = cast;
      const create = { name: 'Ours', participants: [member.userId] };
      const { group } = await owner.ok('messages.create_group', create);
      const { channel } = await owner.ok('messages.create_channel', create);
      for (const { chat_id } of [group, channel]) {
        const stepDown = (role: 'admin' | 'member') => ({ chat_id, user_id: owner.userId, role });
        expect(await owner.refused('chats.leave', { chat_id })).toBe('conflict');
        expect(await owner.refused('chats.set_role', stepDown('admin'))).toBe('conflict');
        expect(await owner.refused('chats.set_role', stepDown('member'))).toBe('conflict');
        await owner.ok('chats.set_role', { chat_id, user_id: member.userId, role: 'owner' });
        await owner.ok('chats.set_role', stepDown('admin'));
        await owner.ok('chats.leave', { chat_id });
        expect(await member.refused('chats.leave', { chat_id })).toBe('conflict');
      }
    });

    test('nobody can remove one, neither an admin nor any owner', async () => {
      const { owner, member, admin } = cast;
      const participants = [member.userId, admin.userId];
      const { chat_id } = (await owner.ok('messages.create_group', { name: 'Ours', participants })).group;
      await owner.ok('chats.set_role', { chat_id, user_id: admin.userId, role: 'admin' });
      await owner.ok('chats.set_role', { chat_id, user_id: member.userId, role: 'owner' });
      for (const by of [admin, member, owner]) {
        expect(await by.refused('chats.remove_participant', { chat_id, user_id: owner.userId })).toBe('forbidden');
      }
    });

    test('two who leave at the same time do not leave a chat without one', async () => {
      const { owner, member } = cast;
      for (let i = 0; i < 5; i++) {
        const create = { name: 'Ours', participants: [member.userId] };
        const { chat_id } = (await owner.ok('messages.create_group', create)).group;
        await owner.ok('chats.set_role', { chat_id, user_id: member.userId, role: 'owner' });
        const answers = await Promise.all([owner, member].map((c) => c.call('chats.leave', { chat_id })));
        expect(answers.map((a) => a.status).sort()).toEqual([200, 409]);
      }
    });

    test('two who demote each other at the same time do not leave a chat without one', async () => {
      const { owner, member } = cast;
      for (let i = 0; i < 5; i++) {
        const create = { name: 'Ours', participants: [member.userId] };
        const { chat_id } = (await owner.ok('messages.create_group', create)).group;
        await owner.ok('chats.set_role', { chat_id, user_id: member.userId, role: 'owner' });
        await Promise.all([
          owner.call('chats.set_role', { chat_id, user_id: member.userId, role: 'member' }),
          member.call('chats.set_role', { chat_id, user_id: owner.userId, role: 'member' }),
        ]);
        const { participants } = await owner.ok('chats.participants', { chat_id });
        expect(participants.filter((p) => p.role === 'owner').length).toBe(1);
      }
    });
  });

  test('an author who may no longer post in a channel may still edit and delete own messages', async () => {
    const { owner, admin } = cast;
    const { channel } = await owner.ok('messages.create_channel', { name: 'News', participants: [admin.userId] });
    const { chat_id } = channel;
    await owner.ok('chats.set_role', { chat_id, user_id: admin.userId, role: 'admin' });
    const { message_id } = (await admin.ok('messages.send_message', { chat_id, content: 'as admin' })).message;
    await owner.ok('chats.set_role', { chat_id, user_id: admin.userId, role: 'member' });
    expect(await admin.refused('messages.send_message', { chat_id, content: 'as member' })).toBe('forbidden');
    await admin.ok('messages.edit_message', { message_id, content: 'edited as member' });
    await admin.ok('messages.delete_message', { message_id });
  });

  test('a user who has left sees nothing, not even older messages', async () => {
    const { owner, member } = cast;
    const { chat_id } = (await owner.ok('messages.create_group', { name: 'Once', participants: [member.userId] }))
      .group;
    const { message_id } = (await member.ok('messages.send_message', { chat_id, content: 'mine' })).message;
    await member.ok('chats.leave', { chat_id });
    expect(await member.refused('chats.get', { chat_id })).toBe('not_found');
    expect(await member.refused('messages.get_messages', { chat_id })).toBe('not_found');
    expect(await member.refused('messages.get_message', { message_id })).toBe('not_found');
    expect(await member.refused('messages.edit_message', { message_id, content: 'still mine?' })).toBe('not_found');
    expect(await member.refused('messages.delete_message', { message_id })).toBe('not_found');
    expect((await member.ok('chats.list', {})).chats.map((c) => c.chat_id)).not.toContain(chat_id);
  });

  test('an administrator of the service sees no more of a private chat than any user', async () => {
    const { member, other } = cast;
    const root = await server().user('root', { admin: true });
    const { chat_id } = (await member.ok('messages.create_direct', { user_id: other.userId })).chat;
    const { message_id } = (await member.ok('messages.send_message', { chat_id, content: 'private' })).message;
    expect(await root.refused('messages.get_messages', { chat_id })).toBe('not_found');
    expect(await root.refused('messages.delete_message', { message_id })).toBe('not_found');
    expect((await root.ok('messages.search_messages', { query: 'private' })).messages).toEqual([]);
    expect((await root.ok('events.list', {})).events).toEqual([]);
  });
});
