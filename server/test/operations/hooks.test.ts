import { beforeAll, describe, expect, test } from 'bun:test';
import type { Client, SessionClient } from '../support/client.ts';
import { freshEnvironment, onBothEngines } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { users } from '../support/people.ts';
import { picture } from '../support/pictures.ts';
import { serverFor, startServer } from '../support/server.ts';
import { inSession } from '../support/visitor.ts';
import { expectRefusal } from '../support/wire.ts';

const json = { 'content-type': 'application/json' };

/** Posts to the URL of a hook, and returns the response. */
const post = (url: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) });

const codeOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: string } };
  return `${response.status} ${error.code}`;
};

onBothEngines('incoming webhooks', (engine) => {
  let printed = '';
  const server = serverFor(
    engine,
    { LOG_LEVEL: 'info', PARLEY_RATE_LIMIT: '1000/1000' },
    {
      print: (text) => {
        printed += text;
      },
    },
  );
  let ada: Client;
  let bob: Client;
  let cleo: Client;
  let browser: SessionClient;
  let bobs: SessionClient;
  beforeAll(async () => {
    ({ ada, bob, cleo } = await users(server(), 'ada', 'bob', 'cleo'));
    browser = await inSession(server(), ada);
    bobs = await inSession(server(), bob);
  });

  const newGroup = async () =>
    (await ada.ok('messages.create_group', { name: 'Ops', participants: [bob.userId] })).group.chat_id;
  const newHook = async (by: SessionClient = browser, chat_id?: number, name = 'Grafana') =>
    by.ok('hooks.create', { chat_id: chat_id ?? (await newGroup()), name });
  const newest = async (chat_id: number) => {
    const { messages } = await ada.ok('messages.get_messages', { chat_id });
    return messages.at(-1);
  };

  test('a post becomes a message of a bot with a name and a picture of its own', async () => {
    const { hook, url } = await newHook();
    expect(url).toMatch(/\/hooks\/hook_[\w-]{43}$/);
    expect(hook).toMatchObject({ created_by: ada.userId, active: true, last_used_at: null });
    expect(hook.bot).toMatchObject({ kind: 'bot', owner_id: ada.userId, display_name: 'Grafana' });
    const user_id = hook.bot.user_id;
    await ada.ok('users.set_avatar', { user_id, file: picture() });
    const content = `Disk **full**, @${(await bob.ok('users.me', {})).user.name}!`;
    const response = await post(url, { content });
    const sent = (await response.json()) as { success: boolean; message_id: number };
    expect(sent).toMatchObject({ success: true, chat_id: hook.chat_id });
    const message = await newest(hook.chat_id);
    expect(message).toMatchObject({ message_id: sent.message_id, user_id, content });
    expect(message?.mentions).toEqual([bob.userId]);
    const [author] = (await bob.ok('users.get', { user_ids: [user_id] })).users ?? [];
    expect(author).toMatchObject({ display_name: 'Grafana', avatar_url: expect.stringContaining('avatar') });
    await eventually('the use is stored', async () => {
      const [listed] = (await ada.ok('hooks.list', { chat_id: hook.chat_id })).hooks;
      return listed?.last_used_at ?? undefined;
    });
  });

  test('participants see a new name of the bot, which is not one of them', async () => {
    const { hook } = await newHook();
    const after = (await bob.ok('events.list', { chat_id: hook.chat_id })).next;
    await ada.ok('users.update', { user_id: hook.bot.user_id, display_name: 'Alerts' });
    const { events } = await bob.ok('events.list', { chat_id: hook.chat_id, after: after ?? 0 });
    expect(events.map(({ event, data }) => [event, data.display_name])).toContainEqual(['user_updated', 'Alerts']);
    const { participants } = await ada.ok('chats.participants', { chat_id: hook.chat_id });
    expect(participants.map(({ user_id }) => user_id)).not.toContain(hook.bot.user_id);
  });

  test("Slack's form gets its response, as JSON and in a form", async () => {
    const { hook, url } = await newHook();
    const response = await post(url, { text: '*Done* <!channel>', username: 'ignored', channel: '#ignored' });
    expect([response.status, await response.text()]).toEqual([200, 'ok']);
    expect(await newest(hook.chat_id)).toMatchObject({ content: '**Done** @all', mentions_all: true });
    const payload = JSON.stringify({ text: 'in a form @all' });
    const inForm = await fetch(url, { method: 'POST', body: new URLSearchParams({ payload }) });
    expect(await inForm.text()).toBe('ok');
    const message = await newest(hook.chat_id);
    expect(message?.content).toBe('in a form \\@all');
    expect(message).not.toHaveProperty('mentions_all');
  });

  test('a payload of another service is readable, and an event without a word for people is skipped', async () => {
    const { hook, url } = await newHook();
    const vector = await Bun.file(new URL('../domain/payloads/github-push.json', import.meta.url)).json();
    await post(url, vector.body, vector.headers);
    const shown = (await newest(hook.chat_id))?.content;
    expect(shown).toContain('pushed [2 commits]');
    // Sent again by hand it has the same id.
    const again = await post(url, vector.body, vector.headers);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const skipped = await post(url, { action: 'labeled', pull_request: {} }, { 'x-github-event': 'pull_request' });
    expect(await skipped.json()).toMatchObject({ success: true, skipped: expect.any(String) });
    expect((await ada.ok('messages.get_messages', { chat_id: hook.chat_id })).messages.length).toBe(1);
  });

  test('a repeated key posts once, and refuses another text', async () => {
    const { hook, url } = await newHook();
    const key = { 'idempotency-key': 'once' };
    const [first, second] = await Promise.all([post(url, { content: 'one' }, key), post(url, { content: 'one' }, key)]);
    const ids = [(await first.json()) as object, (await second.json()) as object];
    expect(ids[0]).toEqual(ids[1] as object);
    expect((await ada.ok('messages.get_messages', { chat_id: hook.chat_id })).messages.length).toBe(1);
    expect(await codeOf(await post(url, { content: 'two' }, key))).toBe('409 idempotency_conflict');
    const inBody = { content: 'three', idempotency_key: 'in-body' };
    await post(url, inBody);
    await post(url, inBody);
    expect((await ada.ok('messages.get_messages', { chat_id: hook.chat_id })).messages.length).toBe(2);
  });

  test('what cannot be posted says why', async () => {
    const { url } = await newHook();
    expect(await codeOf(await post(url, { message: 'x' }))).toBe('422 validation_failed');
    expect(await codeOf(await post(url, { content: '  ' }))).toBe('422 validation_failed');
    expect(await codeOf(await post(url, { content: 'x', colour: 'red' }))).toBe('422 validation_failed');
    expect(await codeOf(await post(url, { text: '' }))).toBe('422 validation_failed');
    expect(await codeOf(await post(url, { content: 'x'.repeat(20_000) }))).toBe('422 validation_failed');
    const broken = await fetch(url, { method: 'POST', headers: json, body: '{' });
    expect(await codeOf(broken)).toBe('400 invalid_request');
    const got = await fetch(url);
    expect([await codeOf(got), got.headers.get('allow')]).toEqual(['405 method_not_allowed', 'POST']);
    expect(await codeOf(await post(`${url}x`, { content: 'x' }))).toBe('404 not_found');
    // The longest text of another service is cut instead.
    expect((await post(url, { text: 'long line\n'.repeat(5_000) })).status).toBe(200);
    expect(await codeOf(await post(url, { text: 'x'.repeat(262_144) }))).toBe('413 payload_too_large');
  });

  test('a revoked hook ends at once, and its bot with the last of its hooks', async () => {
    const chat_id = await newGroup();
    const { hook, url } = await newHook(browser, chat_id);
    const second = await browser.ok('hooks.create', { chat_id, user_id: hook.bot.user_id });
    await ada.ok('hooks.revoke', { hook_id: hook.hook_id });
    expect(await codeOf(await post(url, { content: 'x' }))).toBe('404 not_found');
    expect((await post(second.url, { content: 'x' })).status).toBe(200);
    await ada.ok('hooks.revoke', { hook_id: second.hook.hook_id });
    expect((await ada.ok('hooks.list', {})).hooks.map(({ hook_id }) => hook_id)).not.toContain(second.hook.hook_id);
    const { bots } = await browser.ok('bots.list', {});
    expect(bots.map(({ user_id }) => user_id)).not.toContain(hook.bot.user_id);
    expect(await ada.refused('hooks.revoke', { hook_id: hook.hook_id })).toBe('not_found');
  });

  test('a hook that is revoked while the body of a post arrives sends nothing', async () => {
    const { hook, url } = await newHook();
    const body = JSON.stringify({ content: 'too late' });
    let finish = () => {};
    const arriving = new ReadableStream({
      start(controller) {
        controller.enqueue(body.slice(0, 5));
        finish = () => {
          controller.enqueue(body.slice(5));
          controller.close();
        };
      },
    });
    const posted = fetch(url, { method: 'POST', headers: json, body: arriving });
    // The server reads the hook in this time. If it takes longer, the post is refused for the other reason.
    await Bun.sleep(200);
    await ada.ok('hooks.revoke', { hook_id: hook.hook_id });
    finish();
    expect(await codeOf(await posted)).toBe('404 not_found');
    expect((await ada.ok('messages.get_messages', { chat_id: hook.chat_id })).messages).toEqual([]);
  });

  test('a bot that existed before stays', async () => {
    const { bot } = await browser.ok('bots.create', { name: `own-${engine}` });
    const made = await browser.ok('hooks.create', { chat_id: await newGroup(), user_id: bot.user_id });
    await ada.ok('hooks.revoke', { hook_id: made.hook.hook_id });
    expect((await browser.ok('bots.list', {})).bots.map(({ user_id }) => user_id)).toContain(bot.user_id);
    await browser.ok('hooks.create', { chat_id: await newGroup(), user_id: bot.user_id });
    await browser.ok('bots.disable', { user_id: bot.user_id });
    expect((await ada.ok('hooks.list', {})).hooks.some((one) => one.bot.user_id === bot.user_id)).toBe(false);
  });

  test('a hook works while its creator may post, and admins of the chat can revoke it', async () => {
    const chat_id = await newGroup();
    const { hook, url } = await newHook(bobs, chat_id);
    expect(await cleo.refused('hooks.revoke', { hook_id: hook.hook_id })).toBe('not_found');
    await ada.ok('chats.remove_participant', { chat_id, user_id: bob.userId });
    expect(await codeOf(await post(url, { content: 'x' }))).toBe('403 forbidden');
    expect((await ada.ok('hooks.list', { chat_id })).hooks.map(({ active }) => active)).toEqual([false]);
    expect((await bob.ok('hooks.list', {})).hooks.map(({ active }) => active)).toEqual([false]);
    await ada.ok('chats.add_participants', { chat_id, participants: [bob.userId] });
    expect((await post(url, { content: 'x' })).status).toBe(200);
    await ada.ok('hooks.revoke', { hook_id: hook.hook_id });
    expect((await post(url, { content: 'x' })).status).toBe(404);
  });

  test('only those who may post in a group or channel create hooks, in a browser', async () => {
    const { channel } = await ada.ok('messages.create_channel', { name: 'News', participants: [bob.userId] });
    expect(await bobs.refused('hooks.create', { chat_id: channel.chat_id, name: 'News' })).toBe('forbidden');
    expect((await newHook(browser, channel.chat_id)).hook.active).toBe(true);
    const { chat } = await ada.ok('messages.create_direct', { user_id: bob.userId });
    expect(await browser.refused('hooks.create', { chat_id: chat.chat_id, name: 'Us' })).toBe('forbidden');
    const other = (await cleo.ok('messages.create_group', { name: 'Private', participants: [] })).group.chat_id;
    expect(await browser.refused('hooks.create', { chat_id: other, name: 'Spy' })).toBe('not_found');
    expect(await ada.refused('hooks.create', { chat_id: channel.chat_id, name: 'By token' })).toBe('forbidden');
    const chat_id = channel.chat_id;
    const { details } = expectRefusal(await browser.call('hooks.create', { chat_id }), 'validation_failed');
    expect(details).toEqual([{ field: 'name', message: 'is required, unless user_id is given' }]);
    const both = { chat_id, name: 'Both', user_id: ada.userId };
    const second = expectRefusal(await browser.call('hooks.create', both), 'validation_failed');
    expect(second.details).toEqual([{ field: 'name', message: 'cannot be given beside user_id' }]);
    expect(await browser.refused('hooks.create', { chat_id, user_id: cleo.userId })).toBe('not_found');
  });

  test('a disabled creator ends it', async () => {
    const dora = await server().user(`dora-${engine}`);
    const doras = await inSession(server(), dora);
    const { group } = await dora.ok('messages.create_group', { name: 'Hers', participants: [ada.userId] });
    const { url } = await newHook(doras, group.chat_id);
    const root = await server().user(`root-${engine}`, { admin: true });
    await root.ok('users.disable', { user_id: dora.userId });
    expect((await post(url, { content: 'x' })).status).toBe(404);
    const { entries } = await root.ok('service.audit', {});
    expect(entries.map(({ act }) => act)).toContain('hook_created');
  });

  test('the secret is neither logged nor stored nor shown again', async () => {
    const { hook, url } = await newHook();
    const secret = url.slice(url.lastIndexOf('/') + 1);
    await post(url, { content: 'x' });
    await post(url, { wrong: 'x' });
    await fetch(url);
    const isLogged = `"hook_id":${hook.hook_id},"status":422`;
    await eventually('the post is logged', async () => printed.includes(isLogged) || undefined);
    expect(printed.includes(secret)).toBe(false);
    const { hooks } = await ada.ok('hooks.list', { chat_id: hook.chat_id });
    expect(JSON.stringify(hooks)).not.toContain(secret);
    const rows = await server().engine.all('SELECT * FROM hooks');
    expect(JSON.stringify(rows)).not.toContain(secret);
  });
});

describe('the limit of a hook', () => {
  test('is its own', async () => {
    const server = await startServer({ ...(await freshEnvironment('sqlite')), PARLEY_RATE_LIMIT: '1/40' });
    try {
      const { ada } = await users(server, 'ada');
      const browser = await inSession(server, ada);
      const { chat_id } = (await ada.ok('messages.create_group', { name: 'Ops', participants: [] })).group;
      const first = await browser.ok('hooks.create', { chat_id, name: 'One' });
      const second = await browser.ok('hooks.create', { chat_id, name: 'Two' });
      const statuses: number[] = [];
      for (let i = 0; i < 8; i++) statuses.push((await post(first.url, { content: 'x' })).status);
      expect(statuses.filter((status) => status === 200).length).toBeLessThan(8);
      expect(statuses.at(-1)).toBe(429);
      expect((await post(second.url, { content: 'x' })).status).toBe(200);
      await ada.ok('chats.list', {});
    } finally {
      await server.stop();
    }
  });
});

describe('a large post', () => {
  test('counts for the creator of the hook too', async () => {
    let now = Date.now();
    const environment = { ...(await freshEnvironment('sqlite')), PARLEY_RATE_LIMIT: '1/40' };
    const server = await startServer(environment, { now: () => now });
    try {
      const { ada } = await users(server, 'ada');
      const browser = await inSession(server, ada);
      const { chat_id } = (await ada.ok('messages.create_group', { name: 'Ops', participants: [] })).group;
      const first = await browser.ok('hooks.create', { chat_id, name: 'Hook' });
      const urls = [first.url];
      while (urls.length < 36) {
        now += 10_000;
        urls.push((await browser.ok('hooks.create', { chat_id, user_id: first.hook.bot.user_id })).url);
      }
      now += 600_000;
      // Each counts as four requests of the person, who has 160 with all tokens and hooks together.
      for (const url of urls) expect((await post(url, { wrong: 'x'.repeat(260_000) })).status).toBe(422);
      const { headers } = await ada.call('users.me', {});
      expect([headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual(['160', '15']);
    } finally {
      await server.stop();
    }
  });
});

describe('a post whose time cannot be stored', () => {
  test('is sent all the same, and the log says so', async () => {
    let printed = '';
    const server = await startServer(
      { ...(await freshEnvironment('sqlite')), LOG_LEVEL: 'warn' },
      {
        print: (text) => {
          printed += text;
        },
      },
    );
    try {
      const { ada } = await users(server, 'ada');
      const browser = await inSession(server, ada);
      const { chat_id } = (await ada.ok('messages.create_group', { name: 'Ops', participants: [] })).group;
      const { url } = await browser.ok('hooks.create', { chat_id, name: 'Hook' });
      const broken = "CREATE TRIGGER broken BEFORE UPDATE ON hooks BEGIN SELECT RAISE(ABORT, 'broken'); END";
      await server.engine.run(broken);
      expect((await post(url, { content: 'x' })).status).toBe(200);
      await eventually('it is logged', async () => printed.includes('hook_use_not_stored') || undefined);
    } finally {
      await server.stop();
    }
  });
});

onBothEngines('a hook of a person above the daily quota', (engine) => {
  const server = serverFor(engine, { PARLEY_MESSAGES_PER_DAY: '2' });

  test('returns the message of an earlier post with the same key', async () => {
    const { ada } = await users(server(), 'ada');
    const browser = await inSession(server(), ada);
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'Ops', participants: [] })).group;
    const { url } = await browser.ok('hooks.create', { chat_id, name: 'Hook' });
    const keyed = () => post(url, { content: 'first' }, { 'idempotency-key': 'first' });
    const first = await (await keyed()).json();
    expect((await post(url, { content: 'second' })).status).toBe(200);
    expect(await codeOf(await post(url, { content: 'third' }))).toBe('409 conflict');
    const again = await keyed();
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(await again.json()).toEqual(first);
  });
});
