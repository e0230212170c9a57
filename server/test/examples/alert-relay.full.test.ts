import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { endWithUs } from '../support/cleanup.ts';
import type { Client } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { Forwarder } from '../support/forwarder.ts';
import { users } from '../support/people.ts';
import { describeUnless, requireProgram } from '../support/requirements.ts';
import { serverFor } from '../support/server.ts';

const examples = join(import.meta.dir, '../../../examples');
const relayFile = join(examples, 'alert-relay/relay.mjs');
const relayToken = 'a-token-for-the-relay';

test('the list of examples names every folder', () => {
  const page = readFileSync(join(examples, 'README.md'), 'utf8');
  const folders = readdirSync(examples, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of folders) expect(page).toMatch(new RegExp(`^\\| \\[?${name}\\b`, 'm'));
});

/** A notification as Alertmanager 0.27 sends it. */
const notification = {
  version: '4',
  groupKey: '{}:{alertname="DiskFull"}',
  status: 'firing',
  receiver: 'parley',
  groupLabels: { alertname: 'DiskFull' },
  commonLabels: { alertname: 'DiskFull' },
  commonAnnotations: {},
  externalURL: 'http://alertmanager.example:9093',
  truncatedAlerts: 0,
  alerts: [
    {
      status: 'firing',
      labels: { alertname: 'DiskFull', instance: 'db-1', severity: 'critical' },
      annotations: { summary: 'The disk is 95% full' },
      startsAt: '2026-01-01T12:00:00Z',
      endsAt: '0001-01-01T00:00:00Z',
      generatorURL: '',
      fingerprint: 'a1b2',
    },
    { status: 'resolved', labels: { alertname: 'DiskFull', instance: 'db-2' }, annotations: {} },
  ],
};

describeUnless(requireProgram('node'), 'the alert relay', () => {
  const server = serverFor('sqlite');
  let forwarder: Forwarder;
  let ada: Client;
  let chatId: number;
  let relay: Bun.Subprocess<'ignore', 'pipe', 'ignore'>;
  let url: string;

  beforeAll(async () => {
    ({ ada } = await users(server(), 'ada'));
    chatId = (await ada.ok('messages.create_group', { name: 'Alerts' })).group.chat_id;
    forwarder = await Forwarder.before(Number(new URL(server().url).port));
    const env = {
      ...process.env,
      PARLEY_URL: `http://127.0.0.1:${forwarder.port}/`,
      PARLEY_TOKEN: ada.token,
      CHAT_ID: String(chatId),
      RELAY_TOKEN: relayToken,
      PORT: '0',
    };
    relay = Bun.spawn(['node', relayFile], { env, stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' });
    endWithUs(relay);
    const { value = new Uint8Array() } = await relay.stdout.getReader().read();
    url = /http:\S+/.exec(new TextDecoder().decode(value))?.[0] ?? '';
  });
  afterAll(async () => {
    relay?.kill();
    await relay?.exited;
    forwarder?.stop();
  });

  const post = async (path: string, body: string, token = relayToken) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${token}` },
    });
    return { status: response.status, text: await response.text() };
  };
  const contents = async () =>
    (await ada.ok('messages.get_messages', { chat_id: chatId })).messages.map(({ content }) => content);

  test('does not start without the number of a chat', async () => {
    const env = { ...process.env, PARLEY_TOKEN: ada.token, CHAT_ID: 'Alerts', RELAY_TOKEN: relayToken, PORT: '0' };
    const refused = Bun.spawn(['node', relayFile], { env, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' });
    endWithUs(refused);
    expect(await new Response(refused.stderr).text()).toBe('CHAT_ID must be a number.\n');
    expect(await refused.exited).toBe(1);
  });

  test('posts one line for each alert', async () => {
    expect(await post('/alertmanager', JSON.stringify(notification))).toEqual({ status: 200, text: 'sent\n' });
    expect((await contents()).at(-1)).toBe(
      '🔥 critical: DiskFull on db-1: The disk is 95% full\n✅ resolved: DiskFull on db-2',
    );
  });

  test('posts a text, and shortens a long one', async () => {
    expect((await post('/text', 'Backup done ✓\n')).status).toBe(200);
    expect((await contents()).at(-1)).toBe('Backup done ✓');
    expect((await post('/text', '日'.repeat(100_000))).status).toBe(200);
    expect((await contents()).at(-1)).toMatch(/^日{4999}…$/);
  });

  describe('refuses', () => {
    const bad: [string, path: string, body: string, token: string, status: number][] = [
      ['another token', '/text', 'x', 'wrong', 401],
      ['an unknown path', '/', 'x', relayToken, 404],
      ['what is no JSON', '/alertmanager', '{', relayToken, 400],
      ['JSON without alerts', '/alertmanager', '[]', relayToken, 400],
      ['an alert that is null', '/alertmanager', '{"alerts":[null]}', relayToken, 400],
      ['alerts that are no list', '/alertmanager', '{"alerts":{}}', relayToken, 400],
      ['labels that are null', '/alertmanager', '{"alerts":[{"labels":null}]}', relayToken, 400],
      [
        'a name that is no text',
        '/alertmanager',
        '{"alerts":[{"labels":{"alertname":{"toString":1}}}]}',
        relayToken,
        400,
      ],
      ['a text with NUL', '/text', 'a\0b', relayToken, 422],
      ['an alert with NUL', '/alertmanager', '{"alerts":[{"labels":{"alertname":"a\\u0000b"}}]}', relayToken, 422],
      ['a path that is no URL', '//', 'x', relayToken, 404],
      ['nothing', '/text', ' \n', relayToken, 400],
      ['too much', '/text', 'x'.repeat(1_048_577), relayToken, 413],
    ];
    test.each(bad)('%s', async (_, path, body, token, status) => {
      const before = await contents();
      expect((await post(path, body, token)).status).toBe(status);
      expect(await contents()).toEqual(before);
    });
  });

  test('sends one message if the response of Parley is lost', async () => {
    const before = (await contents()).length;
    forwarder.cutAnswers(1);
    expect((await post('/text', 'once')).status).toBe(200);
    await eventually('it is there', async () => (await contents()).length > before || undefined);
    expect((await contents()).slice(before)).toEqual(['once']);
  });

  test('asks for another attempt while Parley is unavailable', async () => {
    const before = await contents();
    forwarder.cutRequests(3);
    expect((await post('/text', 'lost')).status).toBe(503);
    expect(await contents()).toEqual(before);
  });

  test('passes a refusal of Parley on', async () => {
    const { bob } = await users(server(), 'bob');
    await ada.ok('chats.add_participants', { chat_id: chatId, participants: [bob.userId] });
    await ada.ok('chats.set_role', { chat_id: chatId, user_id: bob.userId, role: 'owner' });
    await ada.ok('chats.leave', { chat_id: chatId });
    const refused = await post('/text', 'x');
    expect(refused).toEqual({ status: 502, text: expect.stringContaining('Parley refused the message') });
  });
});
