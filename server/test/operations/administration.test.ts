import { beforeAll, describe, expect, test } from 'bun:test';
import type { ClientOutput, UserId } from '@parley/contract';
import { createBot } from '../../auth/bots.ts';
import { readSettings, settingsTable } from '../../config.ts';
import { addSample, listSamples, type SampleRow } from '../../store/observe/samples.ts';
import { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { accessOf } from '../support/oauth.ts';
import { users } from '../support/people.ts';
import { serverFor, startServer } from '../support/server.ts';
import { signedIn } from '../support/visitor.ts';

const minuteMs = 60_000;
const begin = Date.UTC(2026, 0, 10, 12);

onAnyEngine('the history of metrics', (engine) => {
  let now = begin;
  const disk = { free: 40 * 1_024 ** 3, total: 100 * 1_024 ** 3 };
  const server = serverFor(engine, {}, { now: () => now, sweepMs: 50, measureSpace: async () => disk });
  let root: Client;
  beforeAll(async () => {
    root = await server().user('root', { admin: true });
  });
  const history = (hours = 24) => root.ok('service.history', { hours });
  const minuteOf = (at: number) => Math.floor(at / minuteMs);
  const none: Omit<SampleRow, 'minute'> = {
    messages: 0,
    requests: 0,
    server_errors: 0,
    streams: 0,
    people_online: 0,
    first_attempts: 0,
    first_attempt_lag_ms: 0,
    backlog: 0,
    disk_free: 10,
    disk_total: 20,
  };
  const add = (sample: Partial<SampleRow> & { minute: number }) =>
    server().engine.write((tx) => addSample(tx, { ...none, ...sample }));

  test('has a sample from the start, and one for each minute that is over', async () => {
    const first = await eventually('the first sample', async () => (await history(1)).samples[0]);
    expect(first).toMatchObject({ at: new Date(begin - minuteMs).toISOString(), messages: 0, webhook_lag_ms: null });
    expect(first).toMatchObject({ disk_free_bytes: disk.free, disk_total_bytes: disk.total });
    const { group } = await root.ok('messages.create_group', { name: 'Launch' });
    for (const content of ['one', 'two', 'three']) {
      await root.ok('messages.send_message', { chat_id: group.chat_id, content });
    }
    now += minuteMs;
    const { interval_minutes, samples } = await eventually('the second sample', async () => {
      const found = await history(1);
      return found.samples.length > 1 ? found : undefined;
    });
    expect(interval_minutes).toBe(1);
    expect(samples[1]).toMatchObject({ at: new Date(begin).toISOString(), messages: 3, server_errors: 0 });
    expect(samples[1]?.requests).toBeGreaterThanOrEqual(4);
  }, 20_000);

  test('adds the samples of servers and of minutes, each as it must be', async () => {
    const minute = minuteOf(now) - 1_000;
    const one = { messages: 2, requests: 10, server_errors: 1, streams: 4, people_online: 3, backlog: 7 };
    await add({ minute, ...one, first_attempts: 1, first_attempt_lag_ms: 100, disk_free: 5 });
    await add({ minute, ...one, people_online: 5, backlog: 6, first_attempts: 3, first_attempt_lag_ms: 500 });
    await add({ minute: minute + 1, messages: 1, streams: 5 });
    const [sample, ...others] = await listSamples(server().engine, minute, 5);
    expect(sample).toMatchObject({ minute, messages: 5, requests: 20, server_errors: 2, streams: 8, people_online: 5 });
    expect(sample).toMatchObject({ backlog: 7, first_attempts: 4, first_attempt_lag_ms: 600, disk_free: 5 });
    expect(others.every((other) => other.minute > minute + 4)).toBe(true);
    const { interval_minutes, samples } = await history();
    expect(interval_minutes).toBe(5);
    const at = new Date(minute * minuteMs);
    const found = samples.find(
      (s) => at.getTime() - Date.parse(s.at) < 5 * minuteMs && Date.parse(s.at) <= at.getTime(),
    );
    expect(found).toMatchObject({ messages: 5, webhook_lag_ms: 150 });
  });

  test('keeps two days, and returns at most 288 points for one', async () => {
    const first = minuteOf(now) - 3 * 24 * 60;
    await server().engine.write(async (tx) => {
      for (let minute = first; minute < minuteOf(now); minute++) await addSample(tx, { ...none, minute });
    });
    expect((await history()).samples.length).toBe(288);
    now += minuteMs;
    const oldest = await eventually('the old samples are deleted', async () => {
      const [sample] = await listSamples(server().engine, 0, 1);
      return sample && sample.minute > first ? sample.minute : undefined;
    });
    expect(oldest).toBe(minuteOf(now) - 48 * 60);
    const { samples } = await history(48);
    expect(samples.length).toBeLessThanOrEqual(577);
    expect(samples).toEqual([...samples].sort((a, b) => a.at.localeCompare(b.at)));
  }, 30_000);

  test('refuses spans that are not kept', async () => {
    for (const hours of [0, 49, 1.5, -1])
      expect(await root.refused('service.history', { hours })).toBe('validation_failed');
  });
});

onAnyEngine('the chats of the service', (engine) => {
  const server = serverFor(engine);
  let [root, ada, bob]: Client[] = [];
  beforeAll(async () => {
    root = await server().user('root', { admin: true });
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
  });
  const admin = () => root as Client;

  test('are listed for administrators, the newest first, without anything that was said', async () => {
    const [one, other] = [ada as Client, bob as Client];
    const { group } = await one.ok('messages.create_group', { name: 'Größe', participants: [other.userId] });
    const { channel } = await one.ok('messages.create_channel', { name: 'News', visibility: 'public' });
    const { chat } = await one.ok('messages.create_direct', { user_id: other.userId });
    const sent = await one.ok('messages.send_message', { chat_id: chat.chat_id, content: 'a very private word' });
    await one.ok('messages.send_message', { chat_id: group.chat_id, content: 'hello' });
    const { chats, has_more } = await admin().ok('service.chats', {});
    expect(has_more).toBe(false);
    expect(chats.map(({ chat_id }) => chat_id)).toEqual([chat.chat_id, channel.chat_id, group.chat_id]);
    expect(chats[0]).toEqual({
      chat_id: chat.chat_id,
      type: 'direct',
      visibility: 'private',
      name: null,
      participant_count: 2,
      message_count: 1,
      created_at: chat.created_at,
      last_message_at: sent.message.created_at,
    });
    expect(chats[1]).toMatchObject({ name: 'News', visibility: 'public', message_count: 0, last_message_at: null });
    expect(JSON.stringify(chats)).not.toContain('private word');
    expect(JSON.stringify(chats)).not.toContain('Bob');
    const names = async (input: object) => (await admin().ok('service.chats', input)).chats.map(({ name }) => name);
    expect(await names({ query: 'grosse' })).toEqual(await names({ query: 'GRÖSSE' }));
    expect(await names({ query: 'größe' })).toEqual(['Größe']);
    expect(await names({ type: 'channel' })).toEqual(['News']);
    expect(await names({ query: '%' })).toEqual([]);
  });

  test('come in pages', async () => {
    for (let i = 0; i < 5; i++) await (ada as Client).ok('messages.create_group', { name: `page ${i}` });
    const seen: number[] = [];
    for (let before_id: number | undefined; ; ) {
      const { chats, has_more } = await admin().ok('service.chats', { limit: 3, ...(before_id && { before_id }) });
      seen.push(...chats.map(({ chat_id }) => chat_id));
      before_id = chats.at(-1)?.chat_id;
      if (!has_more) break;
    }
    expect(seen).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
    for (const wrong of [{ limit: 0 }, { before_id: 0 }, { type: 'room' }, { query: '' }]) {
      expect(await admin().refused('service.chats', wrong as object)).toBe('validation_failed');
    }
  });
});

onAnyEngine('the use by person', (engine) => {
  const server = serverFor(engine, {}, { sweepMs: 50 });
  let root: Client;
  beforeAll(async () => {
    root = await server().user('root', { admin: true });
  });
  type By = 'file_bytes' | 'messages' | 'chats' | 'webhooks' | 'bots';
  const use = async (by: By = 'file_bytes') =>
    (await root.ok('service.use', { by })).people.map((p) => [
      p.name,
      p.file_bytes,
      p.messages,
      p.chats,
      p.webhooks,
      p.bots,
    ]);

  test('counts bots with their owners, and puts the largest first', async () => {
    const [ada, bob, cleo] = [await server().user('ada'), await server().user('bob'), await server().user('cleo')];
    const group = (by: Client) => by.ok('messages.create_group', { name: 'g', participants: [] });
    const hook = (by: Client) =>
      by.ok('webhooks.register', { url: 'http://127.0.0.1:9/', events: ['*'], secret: 'a secret' });
    const { chat_id } = (await group(ada)).group;
    await group(bob);
    await group(bob);
    await hook(cleo);
    const actor = { userId: bob.userId as UserId, appId: 0, address: null };
    const made = await createBot(accessOf(server()), actor, { name: 'bobs-bot', displayName: 'Bot' });
    const bot = new Client(server().url, await server().token('bobs-bot'), made.user_id);
    await hook(bot);
    await hook(bot);
    await group(bot);
    const file = new File([new Uint8Array(1_536)], 'a.bin');
    await ada.ok('messages.send_message', { chat_id, content: 'one', file });
    await ada.ok('messages.send_message', { chat_id, content: 'two' });
    const adas = ['ada', 1_536, 2, 1, 0, 0];
    const bobs = ['bob', 0, 0, 3, 2, 1];
    const cleos = ['cleo', 0, 0, 0, 1, 0];
    const roots = ['root', 0, 0, 0, 0, 0];
    await eventually('the messages are counted', async () => (await use())[0]?.[2] === 2 || undefined);
    expect(await use()).toEqual([adas, roots, bobs, cleos]);
    expect(await use('messages')).toEqual([adas, roots, bobs, cleos]);
    expect(await use('chats')).toEqual([bobs, adas, roots, cleos]);
    expect(await use('webhooks')).toEqual([bobs, cleos, roots, adas]);
    expect(await use('bots')).toEqual([bobs, roots, adas, cleos]);
  });

  test('comes in pages, in which nobody is missing or twice', async () => {
    for (let i = 0; i < 6; i++) await server().user(`extra-${i}`);
    const names: string[] = [];
    for (let after: string | undefined; ; ) {
      const page: ClientOutput<'service.use'> = await root.ok('service.use', {
        by: 'chats',
        limit: 3,
        ...(after && { after }),
      });
      names.push(...page.people.map(({ name }) => name));
      if (page.next === null) break;
      after = page.next;
    }
    expect(names.slice(0, 2)).toEqual(['bob', 'ada']);
    expect(new Set(names).size).toBe(10);
    expect(names.length).toBe(10);
    for (const wrong of [{ by: 'name' }, { after: 'x' }, { after: '1' }, { limit: 201 }]) {
      expect(await root.refused('service.use', wrong as object)).toBe('validation_failed');
    }
  });
});

onAnyEngine('the audit log over the API', (engine) => {
  let now = begin;
  const server = serverFor(engine, {}, { now: () => now });
  let [root, ada]: Client[] = [];
  beforeAll(async () => {
    root = await server().user('root', { admin: true });
    ({ ada } = await users(server(), 'ada'));
    for (const note of ['first', 'second', 'third']) {
      now += 3_600_000;
      await (root as Client).ok('invitations.create', { note });
    }
    await (ada as Client).ok('tokens.create', { name: 'spare', scopes: ['files'] });
  });
  const list = (input: object = {}) => (root as Client).ok('service.audit', input);
  const notes = async (input: object) => (await list(input)).entries.map(({ details }) => details.note);

  test('has the entries with the names that they refer to', async () => {
    const { user } = await (root as Client).ok('users.create', { name: 'dora' });
    const { entries, users: named, apps } = await list({ limit: 1 });
    expect(entries).toEqual([
      {
        audit_id: entries[0]?.audit_id as number,
        at: new Date(now).toISOString(),
        act: 'user_created',
        user_id: root?.userId as number,
        app_id: null,
        address: '127.0.0.1',
        details: { user_id: user.user_id, name: 'dora', is_admin: false },
      },
    ]);
    expect(named.map(({ name }) => name).sort()).toEqual(['dora', 'root']);
    expect(apps).toEqual([]);
    const { entries: byOperator } = await list({ act: 'token_created', until: new Date(begin + 1).toISOString() });
    expect(byOperator.every(({ user_id, address }) => user_id === null && address === null)).toBe(true);
  });

  test('is filtered by act, by who did it, and by time', async () => {
    const hour = (n: number) => new Date(begin + n * 3_600_000).toISOString();
    const act = 'invitation_created';
    expect(await notes({ act })).toEqual(['third', 'second', 'first']);
    expect(await notes({ act, since: hour(2) })).toEqual(['third', 'second']);
    expect(await notes({ act, until: hour(2) })).toEqual(['first']);
    expect(await notes({ act, since: hour(2), until: hour(3) })).toEqual(['second']);
    expect(await notes({ act, since: hour(4) })).toEqual([]);
    expect(await notes({ act, until: hour(-100) })).toEqual([]);
    expect(await notes({ act, since: hour(100) })).toEqual([]);
    expect(await notes({ act, user_id: root?.userId })).toEqual(['third', 'second', 'first']);
    expect(await notes({ act, user_id: ada?.userId })).toEqual([]);
    expect(await notes({ act, user_name: 'ROOT' })).toEqual(['third', 'second', 'first']);
    expect(await (root as Client).refused('service.audit', { user_name: 'nobody' })).toBe('not_found');
    const { entries } = await list({ user_id: ada?.userId });
    expect(entries.map((entry) => entry.act)).toEqual(['token_created']);
    expect(await notes({ act: 'nothing_of_ours' })).toEqual([]);
  });

  test('keeps the order of entries when the clock is set back', async () => {
    now -= 2 * 3_600_000;
    await (root as Client).ok('invitations.create', { note: 'fourth' });
    const since = new Date(now).toISOString();
    now += 2 * 3_600_000;
    expect(await notes({ act: 'invitation_created', since })).toEqual(['fourth', 'third', 'second', 'first']);
  });

  test('comes in pages, and refuses what is no filter', async () => {
    const { entries: all } = await list();
    const seen: number[] = [];
    for (let before_id: number | undefined; ; ) {
      const { entries, has_more } = await list({ limit: 4, ...(before_id && { before_id }) });
      seen.push(...entries.map(({ audit_id }) => audit_id));
      before_id = entries.at(-1)?.audit_id;
      if (!has_more) break;
    }
    expect(seen).toEqual(all.map(({ audit_id }) => audit_id));
    for (const wrong of [
      { act: 'Signed In' },
      { since: 'yesterday' },
      { user_id: 0 },
      { before_id: 0 },
      { user_name: 'a b' },
    ]) {
      expect(await (root as Client).refused('service.audit', wrong as object)).toBe('validation_failed');
    }
  });
});

onAnyEngine('users for administrators', (engine) => {
  const server = serverFor(engine);
  let [root, ada]: Client[] = [];
  beforeAll(async () => {
    root = await server().user('root', { admin: true });
    ({ ada } = await users(server(), 'ada'));
  });

  test('are listed with disabled ones, who can be enabled again', async () => {
    const admin = root as Client;
    const user_id = (ada as Client).userId;
    await admin.ok('users.disable', { user_id });
    const listed = async () => (await admin.ok('users.list', { query: 'ADA' })).users;
    expect((await listed()).map(({ disabled_at }) => disabled_at === null)).toEqual([false]);
    expect((await admin.ok('users.search', { query: 'ada' })).users).toEqual([]);
    const { user } = await admin.ok('users.enable', { user_id });
    expect(user.disabled_at).toBeNull();
    expect(await listed()).toEqual([user]);
    const { entries } = await admin.ok('service.audit', { act: 'user_enabled' });
    expect(entries).toMatchObject([{ user_id: admin.userId, details: { user_id } }]);
    await admin.ok('users.enable', { user_id });
    expect((await admin.ok('service.audit', { act: 'user_enabled' })).entries.length).toBe(1);
    expect(await admin.refused('users.enable', { user_id: 999 })).toBe('not_found');
    expect((await admin.ok('users.list', { limit: 1 })).has_more).toBe(true);
  });

  test('an administrator is enabled only with a recent password, and a bot after its owner', async () => {
    const admin = root as Client;
    const other = await server().user('other-admin', { admin: true });
    await admin.ok('users.disable', { user_id: other.userId });
    expect(await admin.refused('users.enable', { user_id: other.userId })).toBe('forbidden');
    const visitor = await signedIn(server(), admin);
    await visitor.post(`/admin/users/${other.userId}/enable`, {});
    const { users: found } = await admin.ok('users.list', { query: 'other-admin' });
    expect(found[0]?.disabled_at).toBeNull();
    const owner = await server().user('owner');
    const actor = { userId: owner.userId as UserId, appId: 0, address: null };
    const bot = await createBot(accessOf(server()), actor, { name: 'owned-bot', displayName: 'Bot' });
    await admin.ok('users.disable', { user_id: owner.userId });
    expect(await admin.refused('users.enable', { user_id: bot.user_id })).toBe('conflict');
  });
});

onAnyEngine('the state of the server', (engine) => {
  const secret = 'metrics-token-0123456789';
  const server = serverFor(engine, { PARLEY_METRICS_TOKEN: secret, PARLEY_EVENT_DAYS: '7' });
  let root: Client;
  beforeAll(async () => {
    root = await server().user('root', { admin: true });
  });

  test('has sizes, a version, and no backup before there is one', async () => {
    const { group } = await root.ok('messages.create_group', { name: 'Launch' });
    const file = new File([new Uint8Array(1_000)], 'a.bin');
    await root.ok('messages.send_message', { chat_id: group.chat_id, content: 'one', file });
    const { status } = await root.ok('service.status', {});
    expect(status).toMatchObject({ database: engine, file_bytes: 1_000, files: 'data_folder' });
    expect(status).toMatchObject({ last_backup: null, backup_failing: false });
    expect(status.backup_command).toStartWith('npx parley backup ');
    expect(status.database_bytes).toBeGreaterThan(100_000);
    expect(status.disk_total_bytes).toBeGreaterThan(status.disk_free_bytes);
  });

  test('shows every setting with its source, and no secret', async () => {
    const { settings } = await root.ok('service.settings', {});
    expect(settings.map(({ name }) => name)).toEqual(Object.values(settingsTable).map(({ env }) => env));
    const byName = new Map(settings.map((setting) => [setting.name, setting]));
    expect(byName.get('PARLEY_EVENT_DAYS')).toMatchObject({ value: '7', default: '30', source: 'environment' });
    expect(byName.get('PARLEY_AUDIT_DAYS')).toMatchObject({ value: '365', source: 'default', secret: false });
    expect(byName.get('PARLEY_METRICS_TOKEN')).toMatchObject({ value: null, source: 'environment', secret: true });
    expect(byName.get('PARLEY_SECRET_KEY')).toMatchObject({ value: null, source: 'file', secret: true });
    expect(byName.get('NATS_URL')).toMatchObject({ value: '', source: 'default', secret: true });
    const text = JSON.stringify(settings);
    expect(text).not.toContain(secret);
    expect(text).not.toContain('postgres://postgres');
    for (const value of [server().env.DATABASE_URL]) if (value) expect(text).not.toContain(value);
    expect((await root.ok('service.settings', { name: 'PORT' })).settings.length).toBe(1);
    expect(await root.refused('service.settings', { name: 'PATH' })).toBe('not_found');
    expect(await root.refused('service.settings', { name: 'a b' })).toBe('validation_failed');
  });
});

describe('a server whose secrets are in the environment', () => {
  test('shows none of them', async () => {
    const env = {
      ...(await freshEnvironment('sqlite')),
      PARLEY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      S3_URL: '',
    };
    const server = await startServer(env);
    try {
      const root = await server.user('root', { admin: true });
      const { settings } = await root.ok('service.settings', { name: 'PARLEY_SECRET_KEY' });
      expect(settings).toMatchObject([{ value: null, source: 'environment' }]);
      expect(readSettings(env).given.get('S3_URL')).toBeUndefined();
    } finally {
      await server.stop();
    }
  });
});
