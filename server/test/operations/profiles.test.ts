import { beforeAll, describe, expect, test } from 'bun:test';
import type { UserId } from '@parley/contract';
import { addBot, addUser } from '../../auth/administer.ts';
import { createBot } from '../../auth/bots.ts';
import { changeAdministrator } from '../../operations/users.ts';
import { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine } from '../support/engines.ts';
import { accessOf, registerApp } from '../support/oauth.ts';
import { eventsAfter, eventTip, users } from '../support/people.ts';
import { serverFor, standingStill, startServer } from '../support/server.ts';
import { complaint, expectRefusal } from '../support/wire.ts';

onAnyEngine('profiles', (engine) => {
  const server = serverFor(engine);
  let root: Client;
  let ada: Client;
  let bob: Client;
  let cleo: Client;
  beforeAll(async () => {
    root = await server().user('warden', { admin: true, displayName: 'Grace Hopper' });
    ({ ada, bob, cleo } = await users(server(), 'ada', 'bob', 'cleo'));
  });
  const groupOf = async (owner: Client, ...others: Client[]) =>
    (await owner.ok('messages.create_group', { name: 'Group', participants: others.map(({ userId }) => userId) })).group
      .chat_id;
  const actor = ({ userId }: Client) => ({ userId: userId as UserId, appId: 0, address: null });
  const botOf = async (owner: Client, name: string) => {
    const { name: ownerName } = (await owner.ok('users.me', {})).user;
    const bot = await addBot(server().tools, { name, ownerName });
    return new Client(server().url, await server().token(name), bot.user_id);
  };
  const updates = async (reader: Client, after: number) =>
    (await eventsAfter(reader, after)).filter(({ event }) => event === 'user_updated').map(({ data }) => data);

  describe('are changed', () => {
    test('field by field, and others read them', async () => {
      const before = (await ada.ok('users.me', {})).user;
      expect(before).toMatchObject({ status_text: '', time_zone: null, avatar_url: null });
      const { user } = await ada.ok('users.update', { display_name: 'Ada L.', status_text: 'Writing 📝' });
      expect(user).toEqual({ ...before, display_name: 'Ada L.', status_text: 'Writing 📝' });
      const zoned = (await ada.ok('users.update', { time_zone: 'Europe/London' })).user;
      expect(zoned).toEqual({ ...user, time_zone: 'Europe/London' });
      expect((await bob.ok('users.get', { user_id: ada.userId })).user).toEqual(zoned);
      const cleared = (await ada.ok('users.update', { status_text: '', time_zone: null })).user;
      expect(cleared).toEqual({ ...before, display_name: 'Ada L.' });
      expect((await ada.ok('users.update', {})).user).toEqual(cleared);
    });

    test('and are found under the new name only', async () => {
      const { user } = await cleo.ok('users.update', { display_name: 'Zuzanna Čapek' });
      const found = async (query: string) => (await bob.ok('users.search', { query })).users.map((u) => u.user_id);
      expect(await found('zuzanna capek')).toEqual([user.user_id]);
      expect(await found(user.name)).toEqual([user.user_id]);
      await cleo.ok('users.update', { display_name: 'Cleo' });
      expect(await found('zuzanna')).toEqual([]);
    });

    test.each([
      ['display_name', ''],
      ['display_name', 'two\nlines'],
      ['display_name', 'a\u200bb'],
      ['display_name', 'x'.repeat(101)],
      ['display_name', null],
      ['status_text', 'x'.repeat(101)],
      ['status_text', 'two\nlines'],
      ['status_text', ' '],
      ['status_text', 'a\u202eb'],
      ['status_text', null],
      ['time_zone', 'Mars/Olympus'],
      ['time_zone', '+02:00'],
      ['time_zone', ''],
      ['time_zone', `Europe/${'x'.repeat(100_000)}`],
      ['user_id', 0],
      ['name', 'other'],
      ['is_admin', true],
    ])('with valid values only: not %s %j', async (field, value) => {
      const before = (await ada.ok('users.me', {})).user;
      const answer = await ada.call('users.update', { [field]: value } as object);
      const refusal = expectRefusal(answer, 'validation_failed');
      expect(complaint(refusal, field)).toBeDefined();
      const messages = refusal.details.map(({ message }) => message);
      expect(messages).toEqual([...new Set(messages)]);
      expect((await ada.ok('users.me', {})).user).toEqual(before);
    });

    test('with a token that may change things', async () => {
      const { name } = (await ada.ok('users.me', {})).user;
      const reader = new Client(server().url, await server().token(name, ['chats:read']), ada.userId);
      expect(await reader.refused('users.update', { status_text: 'x' })).toBe('insufficient_scope');
    });
  });

  describe('of bots', () => {
    test('are changed by the bot and by its owner, and by nobody else', async () => {
      const bot = await botOf(ada, `helper${engine}`);
      const user_id = bot.userId;
      expect((await ada.ok('users.update', { user_id, display_name: 'Helper' })).user.display_name).toBe('Helper');
      expect((await bot.ok('users.update', { status_text: 'On duty' })).user).toMatchObject({
        user_id,
        display_name: 'Helper',
        status_text: 'On duty',
      });
      expect((await bot.ok('users.update', { user_id, status_text: '' })).user.status_text).toBe('');
      for (const other of [bob, root]) {
        expect(await other.refused('users.update', { user_id, status_text: 'x' })).toBe('not_found');
      }
      // A token of a bot changes neither its owner nor another bot of the owner.
      const other = await botOf(ada, `other${engine}`);
      for (const target of [ada, other]) {
        expect(await bot.refused('users.update', { user_id: target.userId, status_text: 'x' })).toBe('not_found');
      }
    });

    test('that are disabled, and other people, cannot be changed', async () => {
      const bot = await botOf(ada, `retired${engine}`);
      await root.ok('users.disable', { user_id: bot.userId });
      for (const user_id of [bot.userId, bob.userId, 999_999]) {
        expect(await ada.refused('users.update', { user_id, status_text: 'x' })).toBe('not_found');
      }
      expect((await bob.ok('users.me', {})).user.status_text).toBe('');
    });
  });

  describe('are told of', () => {
    test('in every chat of the user, to its participants, and to nobody else', async () => {
      const { dan, eve, fay } = await users(server(), 'dan', 'eve', 'fay');
      const [first, second] = [await groupOf(dan, eve), await groupOf(eve, dan)];
      const left = await groupOf(fay, dan);
      await dan.ok('chats.leave', { chat_id: left });
      const tips = { eve: await eventTip(eve), fay: await eventTip(fay), dan: await eventTip(dan) };
      const { user } = await dan.ok('users.update', { display_name: 'Daniel', time_zone: 'America/Lima' });
      const { user_id, name, display_name, status_text, time_zone, avatar_url } = user;
      const data = { user_id, name, display_name, status_text, time_zone, avatar_url };
      const expected = [first, second].map((chat_id) => ({ chat_id, ...data }));
      expect(await updates(eve, tips.eve)).toEqual(expected);
      expect(await updates(dan, tips.dan)).toEqual(expected);
      expect(await updates(fay, tips.fay)).toEqual([]);
    });

    test('not if nothing changes', async () => {
      const { dan, eve } = await users(server(), 'dan', 'eve');
      await groupOf(dan, eve);
      await dan.ok('users.update', { status_text: 'Here' });
      const tip = await eventTip(eve);
      await dan.ok('users.update', { status_text: 'Here' });
      await dan.ok('users.update', {});
      expect(await updates(eve, tip)).toEqual([]);
    });

    test('in the order in which concurrent changes are made', async () => {
      const { dan, eve } = await users(server(), 'dan', 'eve');
      await groupOf(dan, eve);
      const tip = await eventTip(eve);
      const changes = Array.from({ length: 8 }, (_, i) =>
        i % 2 === 0 ? { display_name: `Dan ${i}` } : { status_text: `Status ${i}` },
      );
      await Promise.all(changes.map((input) => dan.ok('users.update', input)));
      const told = await updates(eve, tip);
      expect(told.length).toBe(8);
      const { display_name, status_text } = (await dan.ok('users.me', {})).user;
      expect(told.at(-1)).toMatchObject({ display_name, status_text });
      // Each change keeps the other field of the change before.
      for (const [i, one] of told.slice(1).entries()) {
        const before = told[i];
        expect(one.display_name === before?.display_name || one.status_text === before?.status_text).toBe(true);
      }
    });
  });

  describe('do not look like an administrator', () => {
    const impostors = [
      'Grace Hopper',
      'grace  hopper',
      'Grасe Hоpper',
      'Grace H0pper',
      'warden',
      'Wаrden',
      'W A R D E N',
      'Warden ✓',
      'ᴡarden🙂',
      'Ꮤarden',
    ];

    test.each(impostors)('%s', async (display_name) => {
      const refused = async (answer: Parameters<typeof expectRefusal>[0]) =>
        expect(complaint(expectRefusal(answer, 'validation_failed'), 'display_name')).toContain('administrator');
      await refused(await ada.call('users.update', { display_name }));
      await refused(await root.call('users.create', { name: 'impostor', display_name }));
      const bot = createBot(accessOf(server()), actor(ada), { name: 'impostor', displayName: display_name });
      expect(await bot.catch((error: Error) => error.message)).toContain('administrator');
      expect((await ada.ok('users.search', { query: 'impostor' })).users).toEqual([]);
    });

    test('in their login names either, but a name that is taken is taken', async () => {
      for (const name of ['w4rden', 'war.den', 'gr4ce-hopper']) {
        const refusal = expectRefusal(
          await root.call('users.create', { name, display_name: 'Fine' }),
          'validation_failed',
        );
        expect(complaint(refusal, 'name')).toContain('administrator');
        const bot = createBot(accessOf(server()), actor(ada), { name, displayName: 'Fine' });
        expect(await bot.catch((error: Error) => error.message)).toContain('administrator');
      }
      const { name } = (await root.ok('users.me', {})).user;
      expect(await root.refused('users.create', { name })).toBe('conflict');
    });

    test('and those who already do are named in the audit log when somebody becomes one', async () => {
      const entries = async () =>
        (
          await server().engine.all<{ details: string }>(
            `SELECT details FROM audit WHERE act IN ('administrator_changed', 'user_created') ORDER BY audit_id`,
          )
        ).map(({ details }) => JSON.parse(details) as { user_id: number; look_alikes?: string[] });
      const person = await server().user(`margaret${engine}`, { displayName: 'Margaret Hamilton' });
      const early = (await root.ok('users.create', { name: `early${engine}`, display_name: 'Margarеt Hamilton ✓' }))
        .user;
      await changeAdministrator(accessOf(server()) as never, actor(root), person.userId as never, true);
      expect((await entries()).at(-1)).toMatchObject({ user_id: person.userId, look_alikes: [early.name] });
      await changeAdministrator(accessOf(server()) as never, actor(root), person.userId as never, false);
      const other = await addUser(server().tools, {
        name: `new${engine}`,
        displayName: 'Margaret Hamilton',
        isAdmin: true,
      });
      expect((await entries()).at(-1)?.look_alikes).toEqual([`margaret${engine}`, early.name]);
      await root.ok('users.disable', { user_id: other.user_id });
    });

    test('nor do the bots of apps', async () => {
      const app = { redirects: ['https://app.example/callback'], confidential: true };
      const register = (by: Client, name: string) => registerApp(accessOf(server()), actor(by), { ...app, name });
      const refusal = await register(ada, 'Grace Hopper').catch((error: Error) => error.message);
      expect(refusal).toContain('administrator');
      expect((await register(ada, 'Calendar')).app.bot_id).not.toBeNull();
    });

    test('but administrators and their bots may look like themselves', async () => {
      const { user } = await root.ok('users.update', { display_name: 'GRACE HOPPER' });
      expect(user.display_name).toBe('GRACE HOPPER');
      await createBot(accessOf(server()), actor(root), { name: `gracebot${engine}`, displayName: 'Grace Hopper' });
      await root.ok('users.update', { display_name: 'Grace Hopper' });
    });

    test('and somebody who is no administrator any more may be looked like', async () => {
      const { userId } = await server().user(`former${engine}`, { admin: true, displayName: 'Katherine Johnson' });
      expect(await ada.refused('users.update', { display_name: 'Katherine Johnson' })).toBe('validation_failed');
      await root.ok('users.disable', { user_id: userId });
      await ada.ok('users.update', { display_name: 'Katherine Johnson' });
    });
  });
});

onAnyEngine('a profile', (engine) => {
  test('survives a restart', async () => {
    const env = await freshEnvironment(engine);
    const first = await startServer(env);
    const { ada } = await users(first, 'ada');
    const { user } = await ada.ok('users.update', { status_text: 'Stays', time_zone: 'UTC' });
    await first.stop();
    const second = await startServer(env);
    try {
      const again = new Client(second.url, ada.token, ada.userId);
      expect((await again.ok('users.me', {})).user).toEqual(user);
    } finally {
      await second.stop();
    }
  });

  test('of somebody in many chats costs more requests', async () => {
    const env = { ...(await freshEnvironment(engine)), PARLEY_RATE_LIMIT: '1/200' };
    const server = await startServer(env, standingStill());
    try {
      const { ada } = await users(server, 'ada');
      for (let i = 0; i < 41; i++) await ada.ok('messages.create_group', { name: 'Group', participants: [] });
      const remaining = async (status_text: string) =>
        Number((await ada.call('users.update', { status_text })).headers.get('ratelimit-remaining'));
      const [first, second] = [await remaining('one'), await remaining('two')];
      expect(first - second).toBe(1 + 3);
    } finally {
      await server.stop();
    }
  });
});
