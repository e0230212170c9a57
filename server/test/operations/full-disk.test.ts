import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { listOperations } from '@parley/contract';
import { changePasswordOf } from '../../auth/administer.ts';
import { growing } from '../../operations/growth.ts';
import { Client } from '../support/client.ts';
import { freshEnvironment, onPostgres } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { users } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { inSession, Visitor } from '../support/visitor.ts';
import { expectRefusal, request } from '../support/wire.ts';

const mebi = 1024 ** 2;
const total = 100_000 * mebi;
const password = 'a long password';

/** POSTs that free space, or need next to none. */
const letThrough = [
  ...['messages.delete_message', 'messages.mark_read', 'messages.remove_reaction', 'messages.unpin'],
  ...[
    'chats.remove_participant',
    'chats.set_role',
    'chats.leave',
    'chats.typing',
    'push.unsubscribe',
    'users.set_presence',
    'users.set_quiet_hours',
    'users.disable',
    'users.enable',
    'tokens.revoke',
    'apps.delete',
    'apps.replace_secret',
    'apps.revoke_access',
    'bots.disable',
    'bots.revoke_token',
    'hooks.revoke',
    'invitations.withdraw',
    'service.update',
  ],
  ...['webhooks.update', 'webhooks.rotate_secret', 'webhooks.skip', 'webhooks.cancel_replay', 'webhooks.delete'],
];

test('every operation that changes something adds data, or is let through on a full disk', () => {
  const posts = listOperations().filter(({ method }) => method === 'POST');
  expect(posts.map(({ name }) => name).sort() as string[]).toEqual([...growing, ...letThrough].sort());
});

const lines = (text: string): Record<string, unknown>[] =>
  text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));

describe('a disk that is almost full', () => {
  let free = 10_000 * mebi;
  let printed = '';
  let server: TestServer;
  let root: Client;
  let ada: Client;
  let chat_id: number;
  let message_id: number;
  let hookUrl: string;
  beforeAll(async () => {
    const env = { ...(await freshEnvironment('sqlite')), LOG_LEVEL: 'info' };
    const print = (text: string) => {
      printed += text;
    };
    server = await startServer(env, { print, measureSpace: async () => ({ free, total }) });
    const { userId } = await server.user('root', { admin: true });
    ({ ada } = await users(server, 'ada'));
    await changePasswordOf(server.tools, { userName: 'root', password });
    root = new Client(server.url, await server.token('root'), userId);
    chat_id = (await ada.ok('messages.create_group', { name: 'Group', participants: [] })).group.chat_id;
    message_id = (await ada.ok('messages.send_message', { chat_id, content: 'first' })).message.message_id;
    hookUrl = (await (await inSession(server, ada)).ok('hooks.create', { chat_id, name: 'Alerts' })).url;
    expect(await metric('parley_disk_low')).toBe('0');
    free = 127 * mebi;
    await eventually('the disk is low', async () => ((await metric('parley_disk_low')) === '1' ? true : undefined));
  });
  afterAll(() => server.stop());

  const metric = async (name: string) =>
    new RegExp(`^${name} (.+)$`, 'm').exec(await (await fetch(`${server.url}/metrics`)).text())?.[1];

  test('refuses calls that add data', async () => {
    const refusals = [
      await ada.call('messages.send_message', { chat_id, content: 'more' }),
      await ada.call('messages.edit_message', { message_id, content: 'longer' }),
      await ada.call('messages.create_group', { name: 'Another', participants: [] }),
      await ada.call('webhooks.register', {
        url: 'https://receiver.example/',
        events: ['new_message'],
        secret: 'a'.repeat(32),
      }),
      await ada.call('tokens.create', { name: 'another' }),
      await ada.call('files.upload', { file: new File(['a file'], 'a.txt') }),
      await root.call('users.create', { name: 'another' }),
      await request(hookUrl, { method: 'POST', body: new URLSearchParams({ content: 'full' }) }),
      await request(`${server.url}/api/uploads`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ada.token}`, 'tus-resumable': '1.0.0', 'upload-length': '3' },
      }),
    ];
    for (const refusal of refusals) expect(expectRefusal(refusal, 'unavailable').message).toContain('full');
    const browser = await inSession(server, ada);
    expect(await browser.refused('bots.create', { name: 'robot' })).toBe('unavailable');
  });

  test('lets reading, signing in, deleting, revoking and disabling through', async () => {
    const { bob } = await users(server, 'bob');
    await ada.ok('messages.get_messages', { chat_id });
    await ada.ok('messages.delete_message', { message_id });
    const { tokens } = await bob.ok('tokens.list', {});
    await bob.ok('tokens.revoke', { token_id: tokens[0]?.token_id ?? 0 });
    await root.ok('users.disable', { user_id: bob.userId });
    expect((await new Visitor(server.url).post('/sign-in', { name: 'root', password })).status).toBe(303);
  });

  test('is reported by /readyz, the metrics and one log line, until there is room again', async () => {
    const ready = async () => {
      const response = await fetch(`${server.url}/readyz`);
      return { status: response.status, text: await response.text() };
    };
    expect(await ready()).toEqual({ status: 200, text: expect.stringContaining('the disk is almost full') });
    expect(await metric('parley_disk_free_bytes')).toBe(String(127 * mebi));
    free = 10_000 * mebi;
    await eventually('there is room', async () => ((await metric('parley_disk_low')) === '0' ? true : undefined));
    await ada.ok('messages.send_message', { chat_id, content: 'There is room.' });
    expect(await ready()).toEqual({ status: 200, text: 'ready\n' });
    const told = await eventually('both lines are written', async () => {
      const found = lines(printed).filter(({ event }) => String(event).startsWith('disk_'));
      return found.length >= 2 ? found : undefined;
    });
    expect(told).toEqual([
      expect.objectContaining({ level: 'warn', event: 'disk_low', free_bytes: 127 * mebi, total_bytes: total }),
      expect.objectContaining({ level: 'info', event: 'disk_recovered', free_bytes: 10_000 * mebi }),
    ]);
  });
});

onPostgres('a disk with files only that is almost full', () => {
  test('refuses files, and takes messages', async () => {
    const measureSpace = async () => ({ free: 127 * mebi, total });
    const server = await startServer(await freshEnvironment('postgres'), { measureSpace });
    try {
      const { ada } = await users(server, 'ada');
      const { chat_id } = (await ada.ok('messages.create_group', { name: 'Group', participants: [] })).group;
      await ada.ok('messages.send_message', { chat_id, content: 'more' });
      expect(await ada.refused('files.upload', { file: new File(['a file'], 'a.txt') })).toBe('unavailable');
      expect(await (await fetch(`${server.url}/readyz`)).text()).toContain('almost full');
    } finally {
      await server.stop();
    }
  });
});
