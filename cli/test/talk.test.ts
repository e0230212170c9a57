import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  type EngineName,
  type Environment,
  freshEnvironment,
  onAnyEngine,
} from '@parley/server/test/support/engines.ts';
import { freePort } from '@parley/server/test/support/postgres.ts';
import { startServer, type TestServer } from '@parley/server/test/support/server.ts';
import { createClient } from '@parley-chat/sdk';
import { failed, parley, said } from './parley.ts';
import { mainFile, spawn } from './spawned-command.ts';

interface Group {
  readonly chatId: string;
  readonly ada: Environment;
  readonly bob: Environment;
  /** Bob with a token that can only read messages. */
  readonly reader: Environment;
}

/** A server with a group of two, and the environment in which each of them types. */
function groupOn(engine: EngineName): () => Group {
  let server: TestServer | undefined;
  let group: Group | undefined;

  beforeAll(async () => {
    const started = await startServer(await freshEnvironment(engine));
    server = started;
    const as = (token: string) => ({ PARLEY_URL: started.url, PARLEY_TOKEN: token, TZ: 'Asia/Tokyo' });
    const [ada, bob] = [await started.user('ada'), await started.user('bob')];
    const created = await ada.ok('messages.create_group', { name: 'Launch 🚀', participants: [bob.userId] });
    await ada.ok('messages.create_direct', { user_id: bob.userId });
    await ada.ok('messages.create_channel', { name: 'חדשות' });
    group = {
      chatId: String(created.group.chat_id),
      ada: as(ada.token),
      bob: as(bob.token),
      reader: as(await started.token('bob', ['messages:read'])),
    };
  });
  afterAll(() => server?.stop());

  return () => {
    if (!group) throw new Error('the group has not been made yet');
    return group;
  };
}

async function contents(chatId: string, env: Environment): Promise<string[]> {
  const { messages } = JSON.parse(await said(['messages', chatId, '--json', '--after', '0'], env));
  return messages.map((m: { content: string }) => m.content);
}

onAnyEngine('talking over HTTP', (engine) => {
  const group = groupOn(engine);

  test('a message is read as it was sent, in any script', async () => {
    const { chatId, ada, bob } = group();
    const text = 'Hello, שלום עולם, مرحبا, 你好 👨‍👩‍👧 👋🏽';
    expect(await said(['send', chatId, text], ada)).toMatch(new RegExp(`^Sent message \\d+ to chat ${chatId}\\.$`));
    expect(await contents(chatId, bob)).toEqual([text]);
    expect(await said(['messages', chatId], bob)).toMatch(new RegExp(`^\\d+ {2}.* {2}ada {2}${text}$`));
  });

  test('text that would control the terminal is escaped', async () => {
    const { chatId, ada, bob } = group();
    const attack = 'red \u001b[31m bell \u0007 title \u001b]0;x\u0007 csi \u009b31m turned \u202e back\rover';
    await said(['send', chatId], ada, attack);
    const { stdout } = await parley(['messages', chatId, '--limit', '1'], bob);
    expect(stdout).toMatch(/^[^\p{Cc}\u202e]*\n$/u);
    expect(stdout).toContain(String.raw`red \u{1b}[31m bell \u{7} title`);
    const json = await said(['messages', chatId, '--limit', '1', '--json'], bob);
    expect(json).toMatch(/^[^\p{Cc}\u202e]*$/u);
    expect(JSON.parse(json).messages[0].content).toBe(attack);
  });
});

describe('the commands that talk', () => {
  const group = groupOn('sqlite');

  test('words are joined, and standard input is read for - or without a text', async () => {
    const { chatId, ada, bob } = group();
    await said(['send', chatId, 'three', 'separate', 'words'], ada);
    await said(['send', chatId, '--', '-5', 'degrees'], ada);
    await said(['send', chatId, '-'], ada, 'from a pipe\n  with two lines\n');
    const { message } = JSON.parse(await said(['send', chatId, '--json'], bob, 'nothing but a pipe'));
    expect(message).toMatchObject({ chat_id: Number(chatId), content: 'nothing but a pipe', reply_to: null });
    expect((await contents(chatId, ada)).slice(-4)).toEqual([
      'three separate words',
      '-5 degrees',
      'from a pipe\n  with two lines',
      'nothing but a pipe',
    ]);
  });

  test('messages are shown in local time, by name, with each line of a text below the other', async () => {
    const { chatId, ada, bob } = group();
    const { message } = JSON.parse(await said(['send', chatId, 'one\ntwo', '--json'], bob));
    const answer = ['send', chatId, 'three', '--reply-to', String(message.message_id)];
    await said(answer, ada);
    const local = new Date(Date.parse(message.created_at) + 9 * 3_600_000).toISOString().slice(0, 16).replace('T', ' ');
    const start = `${message.message_id}  ${local}  bob  `;
    const lines = (await said(['messages', chatId, '--limit', '2'], ada)).split('\n');
    expect(lines.slice(0, 2)).toEqual([`${start}one`, `${' '.repeat(start.length)}two`]);
    expect(lines.slice(2)).toEqual([
      expect.stringMatching(/ ada {2}three$/),
      `${' '.repeat(start.length)}[reply to ${message.message_id}]`,
    ]);
  });

  test('a page ends with the command for the next one', async () => {
    const { chatId, bob } = group();
    const all = JSON.parse(await said(['messages', chatId, '--json'], bob)).messages as { message_id: number }[];
    const [first, second] = [all[0]?.message_id ?? 0, all[1]?.message_id ?? 0];
    const newest = all.at(-1)?.message_id;
    const [start, end, between] = await Promise.all([
      parley(['messages', chatId, '--after', '0', '--limit', '2'], bob),
      parley(['messages', chatId, '--limit', '1'], bob),
      said(['messages', chatId, '--before', String(second), '--json'], bob),
    ]);
    expect(start.stderr).toBe(`There are more: npx parley messages ${chatId} --after ${second}\n`);
    expect(end.stderr).toBe(`There are more: npx parley messages ${chatId} --before ${newest}\n`);
    expect(JSON.parse(between).messages.map((m: { message_id: number }) => m.message_id)).toEqual([first]);
  });

  test('authors are shown by id if the token may not read names', async () => {
    const { chatId, reader } = group();
    expect(await said(['messages', chatId, '--limit', '1'], reader)).toContain('  user 1  ');
  });

  test('chats are listed by name, direct ones by who else is in them', async () => {
    const { ada, bob } = group();
    expect((await said(['chats'], ada)).split('\n')).toEqual([
      'id  type     unread  name',
      expect.stringMatching(/^\d+ +group +\d+ +Launch 🚀$/),
      expect.stringMatching(/^\d+ +direct +0 +bob$/),
      expect.stringMatching(/^\d+ +channel +0 +חדשות$/),
    ]);
    const { chats } = JSON.parse(await said(['chats', '--public', '--query', 'חד', '--json'], bob));
    expect(chats.map((c: { name: string }) => c.name)).toEqual(['חדשות']);
    expect(await parley(['chats', '--public', '--query', 'nothing'], bob)).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No chats.\n',
    });
  });

  test('the address may be that of the server or that of its API', async () => {
    const { ada } = group();
    const url = `${ada.PARLEY_URL}/api`;
    const chats = await said(['chats'], ada);
    expect(await said(['chats'], { ...ada, PARLEY_URL: url })).toBe(chats);
    expect(await said(['chats', '--url', `${url}/`], ada)).toBe(chats);
  });

  test('a refusal of the server is one plain line', async () => {
    const { chatId, ada, reader } = group();
    const refused = await Promise.all([
      parley(['send', '999999', 'hello'], ada),
      parley(['send', chatId], ada, ''),
      parley(['send', chatId, ' '], ada),
      parley(['send', chatId, 'hello'], reader),
      parley(['messages', chatId, '--limit', '100000'], ada),
      parley(['chats', '--token', 'pat_wrong'], ada),
    ]);
    expect(refused).toEqual([
      failed(1, 'There is no such chat, or you may not see it.'),
      failed(1, 'content: is required, unless a file is sent'),
      failed(1, 'content: must not be blank'),
      failed(1, 'This access token lacks the scope messages:write.'),
      failed(1, 'limit: must be at most 200'),
      failed(1, 'This access token is unknown, expired or revoked.'),
    ]);
  });

  test('a reader that has had enough is no failure', async () => {
    const { chatId, ada } = group();
    const client = createClient({ url: ada.PARLEY_URL ?? '', token: ada.PARLEY_TOKEN ?? '' });
    const big = 'x'.repeat(16_000);
    for (let i = 0; i < 20; i++) await client.messages.send_message({ chat_id: Number(chatId), content: big });
    const main = `${process.execPath} ${mainFile}`;
    const pipe = `${main} messages ${chatId} | head -c 1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await spawn(['bash', '-c', pipe], '/', ada);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^\d0\n$/);
  });
});

describe('talking to nobody', () => {
  const url = async () => `http://127.0.0.1:${await freePort()}`;

  test('an unreachable server is reported with its URL', async () => {
    const address = await url();
    expect(await parley(['chats', '--url', address, '--token', 'pat_x'])).toEqual(
      failed(1, `Cannot reach Parley at ${address}: `),
    );
  });

  test('a missing token is reported with the command that creates one', async () => {
    expect(await parley(['chats'], { PARLEY_URL: await url() })).toEqual(failed(1, 'npx parley token create'));
  });

  test('an address that is none is refused', async () => {
    expect(await parley(['chats'], { PARLEY_URL: 'localhost', PARLEY_TOKEN: 'x' })).toEqual(
      failed(1, 'The server URL must be like'),
    );
  });

  test('text that is not UTF-8 is refused', async () => {
    const { code, stderr } = await parley(['send', '1', '--token', 'x'], {}, new Uint8Array([0xff, 0xfe]));
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'Standard input must be UTF-8 text. See: npx parley send --help\n',
    });
  });
});
