import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createBot, createBotToken } from '../../auth/bots.ts';
import { Client } from '../support/client.ts';
import { freshEnvironment, onBothEngines } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { accessOf } from '../support/oauth.ts';
import { users } from '../support/people.ts';
import { picture } from '../support/pictures.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { inSession, signedIn } from '../support/visitor.ts';
import { expectRefusal, request } from '../support/wire.ts';

const quotas = {
  PARLEY_FILE_BYTES_PER_PERSON: '100',
  PARLEY_MESSAGES_PER_DAY: '5',
  PARLEY_CHATS_PER_PERSON: '4',
  PARLEY_BOTS_PER_PERSON: '2',
};

const day = 86_400_000;

onBothEngines('quotas of a person', (engine) => {
  let server: TestServer;
  let now = Date.parse('2026-05-05T12:00:00Z');
  let count = 0;
  const clock = () => now;
  beforeAll(async () => {
    server = await startServer(
      { ...(await freshEnvironment(engine)), ...quotas },
      { now: clock, fileSweepMs: 20, sweepMs: 50 },
    );
  });
  afterAll(() => server.stop());

  /** Returns a person with a bot and a group. */
  async function household(): Promise<{ person: Client; bot: Client; chat_id: number }> {
    const name = `person${++count}`;
    const person = await server.user(name);
    const actor = { userId: person.userId as never, appId: 0, address: null };
    const services = accessOf(server, clock);
    const { user_id } = await createBot(services, actor, { name: `${name}-bot`, displayName: 'Bot' });
    const scopes = ['messages:write', 'messages:read', 'chats:write', 'files'] as const;
    const { accessToken } = await createBotToken(services, actor, user_id, { name: 'its own', scopes });
    const { group } = await person.ok('messages.create_group', { name: 'Group', participants: [user_id] });
    return { person, bot: new Client(server.url, accessToken, user_id), chat_id: group.chat_id };
  }

  const file = (bytes: number) => new File(['x'.repeat(bytes)], 'x.txt');

  test('limit the messages that they and their bots send and edit on a day', async () => {
    const { person, bot, chat_id } = await household();
    const key = { 'Idempotency-Key': 'the-first' };
    const { message } = await person.ok('messages.send_message', { chat_id, content: 'first' }, key);
    for (let i = 0; i < 3; i++) await bot.ok('messages.send_message', { chat_id, content: 'more' });
    await person.ok('messages.edit_message', { message_id: message.message_id, content: 'edited' });
    for (const one of [person, bot]) {
      const refusal = expectRefusal(await one.call('messages.send_message', { chat_id, content: 'no' }), 'conflict');
      expect(refusal.message).toContain('5 messages');
      expect(refusal.message).toContain('PARLEY_MESSAGES_PER_DAY');
      expect(await one.refused('messages.send_message', { chat_id, file: file(1) })).toBe('conflict');
    }
    expect(await person.refused('messages.edit_message', { message_id: message.message_id, content: 'again' })).toBe(
      'conflict',
    );
    const repeated = await person.ok('messages.send_message', { chat_id, content: 'first' }, key);
    expect(repeated.message.message_id).toBe(message.message_id);
    const { other } = await users(server, 'other');
    const theirs = (await other.ok('messages.create_group', { name: 'Theirs', participants: [] })).group;
    await other.ok('messages.send_message', { chat_id: theirs.chat_id, content: 'Others are not concerned.' });
    now += 86_400_000;
    await person.ok('messages.send_message', { chat_id, content: 'a new day' });
  });

  test('count other changes that are stored as events, and let people undo them', async () => {
    const { person, bot, chat_id } = await household();
    const messageIds: number[] = [];
    for (let i = 0; i < 6; i++) {
      if (i % 3 === 0) now += day;
      messageIds.push((await bot.ok('messages.send_message', { chat_id, content: `${i}` })).message.message_id);
    }
    const emoji = ['👍', '👎', '🎉', '❤️', '👀', '🚀'];
    const pictures = Array.from({ length: 6 }, () => picture());
    const changes = {
      'chats.update': (i: number) => ({ chat_id, name: `Name ${i}` }),
      'chats.set_preferences': (i: number) => ({ chat_id, archived: i % 2 === 0 }),
      'messages.add_reaction': (i: number) => ({ message_id: messageIds[0] as number, emoji: emoji[i] as string }),
      'messages.pin': (i: number) => ({ message_id: messageIds[i] as number }),
      'users.update': (i: number) => ({ status_text: `Status ${i}` }),
      'users.set_avatar': (i: number) => ({ file: pictures[i] as File }),
    } as const;
    for (const [name, input] of Object.entries(changes) as [keyof typeof changes, (i: number) => never][]) {
      now += day;
      for (let i = 0; i < 5; i++) await person.ok(name, input(i));
      // The same again changes nothing, and counts nothing.
      await person.ok(name, input(4));
      const refusal = expectRefusal(await person.call(name, input(5)), 'conflict');
      expect(refusal.message).toContain('PARLEY_MESSAGES_PER_DAY');
      expect(await bot.refused('messages.send_message', { chat_id, content: 'no' })).toBe('conflict');
    }
    await person.ok('messages.unpin', { message_id: messageIds[0] as number });
    await person.ok('messages.remove_reaction', { message_id: messageIds[0] as number, emoji: '👍' });
    await person.ok('users.remove_avatar', {});
    await bot.ok('messages.delete_message', { message_id: messageIds[1] as number });
  });

  test('count a change of a profile in each chat', async () => {
    const { person } = await household();
    for (let i = 0; i < 2; i++) await person.ok('messages.create_group', { name: 'Group', participants: [] });
    await person.ok('users.update', { status_text: 'three events' });
    await person.ok('users.update', { status_text: 'six events' });
    expect(await person.refused('users.update', { status_text: 'too many' })).toBe('conflict');
    expect((await person.ok('users.me', {})).user.status_text).toBe('six events');
  });

  test('survive a restart, but for the last seconds', async () => {
    const env = { ...(await freshEnvironment(engine)), ...quotas };
    let own = await startServer(env, { now: clock, sweepMs: 50 });
    const ada = await own.user('ada');
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'Group', participants: [] })).group;
    for (let i = 0; i < 5; i++) await ada.ok('messages.send_message', { chat_id, content: 'more' });
    await own.stop();
    own = await startServer(env, { now: clock, sweepMs: 50 });
    const again = new Client(own.url, ada.token, ada.userId);
    try {
      await eventually('the stored count is known again', async () => {
        const { error } = await again.call('messages.send_message', { chat_id, content: 'more' });
        return error?.code === 'conflict' ? true : undefined;
      });
    } finally {
      await own.stop();
    }
  });

  test('limit the chats that they and their bots create', async () => {
    const { person, bot } = await household();
    const { friend, fan } = await users(server, `friend${count}`, `fan${count}`).then((made) => {
      const [friend, fan] = Object.values(made) as [Client, Client];
      return { friend, fan };
    });
    await bot.ok('messages.create_channel', { name: 'News' });
    await person.ok('messages.create_direct', { user_id: friend.userId });
    const created = await Promise.all(
      [person, bot, person].map((one) => one.call('messages.create_group', { name: 'Race', participants: [] })),
    );
    expect(created.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const refusal = expectRefusal(await person.call('messages.create_direct', { user_id: fan.userId }), 'conflict');
    expect(refusal.message).toContain('4 chats');
    expect(refusal.message).toContain('PARLEY_CHATS_PER_PERSON');
    await person.ok('messages.create_direct', { user_id: friend.userId });
    await fan.ok('messages.create_direct', { user_id: person.userId });
  });

  test('limit the bytes of their files, and count a deleted file no longer', async () => {
    const { person, bot, chat_id } = await household();
    await bot.ok('files.upload', { file: file(40) });
    const { message } = await person.ok('messages.send_message', { chat_id, file: file(50) });
    const tus = (size: number) =>
      request(`${server.url}/api/uploads`, {
        method: 'POST',
        headers: { authorization: `Bearer ${person.token}`, 'tus-resumable': '1.0.0', 'upload-length': String(size) },
      });
    const refusals = [
      await person.call('files.upload', { file: file(11) }),
      await bot.call('messages.send_message', { chat_id, file: file(11) }),
      await tus(11),
    ];
    for (const refusal of refusals) {
      const { message } = expectRefusal(refusal, 'conflict');
      expect(message).toContain('100 bytes');
      expect(message).toContain('PARLEY_FILE_BYTES_PER_PERSON');
    }
    await person.ok('files.upload', { file: file(10) });
    expect(await person.refused('files.upload', { file: file(1) })).toBe('conflict');
    await person.ok('messages.delete_message', { message_id: message.message_id });
    now += 1;
    await eventually('the deleted file is removed', async () => {
      const { status } = await person.call('files.upload', { file: file(50) });
      return status === 200 ? true : undefined;
    });
    expect(await person.refused('files.upload', { file: file(1) })).toBe('conflict');
  });

  test('limit their bots', async () => {
    const { person } = await household();
    const browser = await inSession(server, person);
    await browser.ok('bots.create', { name: `second-bot${count}` });
    const { message } = expectRefusal(await browser.call('bots.create', { name: `third-bot${count}` }), 'conflict');
    expect(message).toContain('You have 2 bots, as many as PARLEY_BOTS_PER_PERSON allows.');
  });

  test('are shown to administrators with the use of each person', async () => {
    const { person, bot, chat_id } = await household();
    await bot.ok('messages.send_message', { chat_id, file: file(7) });
    const root = await signedIn(server, await server.user(`root${count}`, { admin: true }));
    const words = await eventually('the messages are counted', async () => {
      const page = await root.get(`/admin/users/${person.userId}`);
      return page.words.includes('1 of 5') ? page.words : undefined;
    });
    expect(words).toContain('7 of 100');
    expect(words).toContain('1 of 4');
    expect(words).toContain('1 of 2');
  });
});
