import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { type Environment, onAnyEngine } from '@parley/server/test/support/engines.ts';
import { kept, sha256, someBytes } from '@parley/server/test/support/files.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { FlakyProxy } from '../../sdk/test/flaky.ts';
import { Listener } from './listener.ts';
import { failed, parley, parleyIn, said } from './parley.ts';
import { RunningCommand } from './running-command.ts';
import { sceneOn } from './scene.ts';
import { mainFile, spawn } from './spawned-command.ts';

/** A file with these bytes in a folder of its own. */
function fileWith(bytes: string | Uint8Array, name = 'report.bin'): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, bytes);
  return path;
}

const asUser = (env: Environment, { token }: { token: string }) => ({ ...env, PARLEY_TOKEN: token });

/** Returns the files that are saved between runs. */
const leftIn = (env: Environment): string[] =>
  readdirSync(join(env.XDG_STATE_HOME ?? '', 'parley')).filter((name) => name !== 'transfers.lock');

onAnyEngine('a file on the command line', (engine) => {
  const server = serverFor(engine);

  test('is uploaded, sent, shown and downloaded unchanged', async () => {
    const { env, bob, chatId, names } = await sceneOn(server());
    const bytes = someBytes(20_000_000);
    const path = fileWith(bytes, 'דוח 报告 👋🏽.bin');
    const uploaded = await parley(['upload', path], env);
    const file_id = uploaded.stdout.trim();
    expect(uploaded).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\d+\n$/),
      stderr: `Send it with: npx parley send <chat_id> --file-id ${file_id}\n`,
    });
    expect(await said(['send', String(chatId), 'here', 'it is', '--file-id', file_id], env)).toStartWith(
      'Sent message ',
    );
    const lines = (await said(['messages', String(chatId)], asUser(env, bob))).split('\n');
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`^\\d+ .* ${names.ada}  here it is$`)),
      expect.stringMatching(new RegExp(`^ +\\[file ${file_id}: דוח 报告 👋🏽\\.bin, 19\\.1 MiB\\]$`)),
    ]);
    const folder = temporaryFolder();
    expect(await parleyIn(folder, ['download', file_id], asUser(env, bob))).toEqual({
      code: 0,
      stdout: 'Saved דוח 报告 👋🏽.bin, 19.1 MiB.\n',
      stderr: '',
    });
    expect(readdirSync(folder)).toEqual(['דוח 报告 👋🏽.bin']);
    expect(sha256(readFileSync(join(folder, basename(path))))).toBe(sha256(bytes));
    expect(leftIn(env)).toEqual([]);
  });
});

describe('sending a file', () => {
  const server = serverFor('sqlite');

  test('uses the text as its caption, and prints JSON', async () => {
    const { env, chatId, send } = await sceneOn(server());
    const message_id = await send('send me the report');
    const words = ['send', String(chatId), 'as', 'you', 'asked', '--reply-to', String(message_id), '--json'];
    const { message } = JSON.parse(await said([...words, '--file', fileWith('Hello')], env));
    expect(message).toMatchObject({
      content: 'as you asked',
      reply_to: message_id,
      file: { name: 'report.bin', size: 5, sha256: sha256('Hello') },
    });
    expect(leftIn(env)).toEqual([]);
  });

  test('needs no text, and reads standard input only for -', async () => {
    const { env, ada, chatId } = await sceneOn(server());
    const file = ['--file', fileWith('Hello'), '--name', 'שלום.txt'];
    await said(['send', String(chatId), ...file], env, 'not to be read');
    await said(['send', String(chatId), '-', ...file], env, 'from a pipe\n');
    const id = await said(['upload', fileWith('Hello')], env);
    await said(['send', String(chatId), '--file-id', id], env, 'not to be read');
    const { messages } = await ada.ok('messages.get_messages', { chat_id: chatId });
    expect(messages.map(({ content, file }) => [content, file?.name])).toEqual([
      ['', 'שלום.txt'],
      ['from a pipe', 'שלום.txt'],
      ['', 'report.bin'],
    ]);
  });

  test('shows it in parley listen', async () => {
    const { env, bob, chatId } = await sceneOn(server());
    await using listener = await Listener.start([], env);
    const file = new File(['Hello'], 'hello.txt');
    await bob.ok('messages.send_message', { chat_id: chatId, file });
    await bob.ok('messages.send_message', { chat_id: chatId, content: 'with a text', file });
    const [alone, text, below] = await listener.prints(3);
    expect(alone).toMatch(/message \d+: \[file \d+: hello\.txt, 5 bytes\]$/);
    expect(text).toMatch(/message \d+: with a text$/);
    expect(below).toMatch(/^ +\[file \d+: hello\.txt, 5 bytes\]$/);
  });

  test('is refused before the upload if the user may not send to the chat', async () => {
    const { env, ada, bob } = await sceneOn(server());
    const { channel: news } = await bob.ok('messages.create_channel', { name: 'News' });
    const { channel: joined } = await bob.ok('messages.create_channel', { name: 'Joined' });
    await ada.ok('chats.join', { chat_id: joined.chat_id });
    const file = ['--file', fileWith('Hello')];
    const outcomes = await Promise.all([
      parley(['send', '999999', ...file], env),
      parley(['send', String(news.chat_id), ...file], env),
      parley(['send', String(joined.chat_id), ...file], env),
    ]);
    expect(outcomes).toEqual([
      failed(1, 'There is no such chat, or you may not see it.'),
      failed(1, 'You are not a participant of this chat.'),
      failed(1, 'Only the owner and admins of this channel may post in it.'),
    ]);
    const rows = await server().engine.all('SELECT file_id FROM files WHERE user_id = $1', [ada.userId]);
    expect(rows).toEqual([]);
  });

  test('works with a token that may not read chats', async () => {
    const { env, names, chatId } = await sceneOn(server());
    const token = await server().token(names.ada, ['messages:write', 'files']);
    const sent = await said(['send', String(chatId), '--file', fileWith('Hello'), '--token', token], env);
    expect(sent).toStartWith('Sent message ');
  });

  test('that is refused keeps the file, and the next run does not upload it again', async () => {
    const { env, ada, chatId } = await sceneOn(server());
    const file = ['--file', fileWith(someBytes(3_000_000))];
    const refused = await parley(['send', String(chatId), ' ', ...file], env);
    expect(refused).toEqual(
      failed(1, /content: must not be blank \(The file is uploaded\. Send it with --file-id \d+\.\)/),
    );
    const file_id = Number(/--file-id (\d+)/.exec(refused.stderr)?.[1]);
    const { code, stdout, stderr } = await parley(['send', String(chatId), 'better', ...file, '--json'], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'The file is already uploaded.\n' });
    expect(JSON.parse(stdout).message).toMatchObject({ content: 'better', file: { file_id } });
    const rows = await server().engine.all('SELECT file_id FROM files WHERE user_id = $1', [ada.userId]);
    expect(rows).toEqual([{ file_id }]);
    expect(leftIn(env)).toEqual([]);
  });
});

describe('a file that cannot be uploaded', () => {
  const limited = serverFor('sqlite', { PARLEY_FILE_LIMIT: '1000' });

  test('is reported in one line', async () => {
    const { env, names } = await sceneOn(limited());
    const folder = temporaryFolder();
    const writer = await limited().token(names.ada, ['messages:write']);
    const good = fileWith('Hello');
    const outcomes = await Promise.all([
      parley(['upload', join(folder, 'nothing.txt')], env),
      parley(['upload', folder], env),
      parley(['upload', fileWith('', 'empty.txt')], env),
      parley(['upload', '/dev/zero'], env),
      parley(['upload', fileWith('x'.repeat(1_001), 'large.txt')], env),
      parley(['upload', fileWith('Hello', 'a\u202eb.txt')], env),
      parley(['upload', good, '--name', '../x'], env),
      parley(['upload', good, '--token', writer], env),
      parley(['upload', good], { PARLEY_URL: limited().url, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder }),
    ]);
    expect(outcomes).toEqual([
      failed(1, `There is no file ${folder}/nothing.txt.`),
      failed(1, `${folder} is a folder.`),
      failed(1, /empty\.txt is empty\./),
      failed(1, '/dev/zero is not a file.'),
      failed(1, 'A file may have at most 1000 bytes.'),
      failed(1, 'The name of the file must not contain control characters. Choose another one with --name.'),
      failed(1, 'The name of the file must be the name of a file, without a path.'),
      failed(1, 'This access token lacks the scope files.'),
      failed(1, `You are not signed in at ${limited().url}.`),
    ]);
    expect(await kept(limited())).toEqual({ rows: 0, blobs: 0 });
    expect(leftIn(env)).toEqual([]);
  });

  test('is reported if the user may not read it', async () => {
    const { env } = await sceneOn(limited());
    const path = fileWith('secret');
    chmodSync(path, 0);
    // Root could read it without this.
    const powerless = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : [];
    const words = [...powerless, process.execPath, mainFile, 'upload', path];
    expect(await spawn(words, '/', env)).toEqual(failed(1, `You may not read ${path}.`));
  });

  test.each([
    [['send', '1', '--file', 'x', '--file-id', '2'], 'Give --file or --file-id, not both. See: npx parley send --help'],
    [['send', '1', 'text', '--name', 'x'], '--name requires --file. See: npx parley send --help'],
    [['upload'], '<path> is missing. See: npx parley upload --help'],
    [['download', 'x'], '<file_id> must be a whole number from 1, not "x".'],
    [['download', '1', '-', '--json'], 'Give --json or -, not both. See: npx parley download --help'],
  ])('is a usage error: parley %p', async (words, line) => {
    expect(await parley(words, { PARLEY_TOKEN: 'x' })).toEqual(failed(2, line));
  });
});

describe('downloading', () => {
  const server = serverFor('sqlite');
  const proxies: FlakyProxy[] = [];
  afterAll(() => {
    for (const proxy of proxies) proxy.stop();
  });

  const bytes = someBytes(300_000);
  let env: Environment = {};
  let id = '';

  beforeAll(async () => {
    ({ env } = await sceneOn(server()));
    id = await said(['upload', fileWith(bytes)], env);
  });

  test('replaces a file only with --force', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'report.bin'), 'mine');
    const other = { ...env, XDG_STATE_HOME: temporaryFolder() };
    expect(await parleyIn(folder, ['download', id], other)).toEqual(
      failed(1, 'report.bin already exists. Choose another name, or use --force.'),
    );
    expect(readFileSync(join(folder, 'report.bin'), 'utf8')).toBe('mine');
    expect((await parleyIn(folder, ['download', id, '--force'], other)).code).toBe(0);
    expect(sha256(readFileSync(join(folder, 'report.bin')))).toBe(sha256(bytes));
    expect(readdirSync(folder)).toEqual(['report.bin']);
  });

  test('replaces the .part of another file only with --force', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'report.bin.part'), 'mine');
    expect(await parleyIn(folder, ['download', id], env)).toEqual(
      failed(1, 'report.bin.part exists and belongs to another file. Remove it, or use --force.'),
    );
    expect(readFileSync(join(folder, 'report.bin.part'), 'utf8')).toBe('mine');
    expect((await parleyIn(folder, ['download', id, '--force'], env)).code).toBe(0);
    expect(readdirSync(folder)).toEqual(['report.bin']);
  });

  test('writes to the given file or folder', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'sub'));
    const outcome = await parleyIn(folder, ['download', id, 'mine.bin', '--json'], env);
    expect(JSON.parse(outcome.stdout)).toEqual({
      file: expect.objectContaining({ file_id: Number(id), name: 'report.bin', size: 300_000, sha256: sha256(bytes) }),
      path: 'mine.bin',
    });
    expect((await parleyIn(folder, ['download', id, 'sub'], env)).stdout).toBe('Saved sub/report.bin, 293.0 KiB.\n');
    for (const path of ['mine.bin', 'sub/report.bin']) {
      expect(sha256(readFileSync(join(folder, path)))).toBe(sha256(bytes));
    }
    expect(await parleyIn(folder, ['download', id, 'nowhere/mine.bin'], env)).toEqual(
      failed(1, 'There is no folder nowhere.'),
    );
  });

  test('writes to standard output for -, and succeeds if the reader closes it', async () => {
    const cwd = temporaryFolder();
    const whole = new RunningCommand(['download', id, '-'], { env, cwd });
    expect(await whole.end()).toMatchObject({ code: 0, stderr: '' });
    expect(sha256(whole.context.stdout.bytes)).toBe(sha256(bytes));
    const part = new RunningCommand(['download', id, '-'], { env, cwd });
    part.context.stdout.close();
    expect(await part.end()).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(readdirSync(cwd)).toEqual([]);
  });

  test('is refused with the message of the server', async () => {
    const stranger = await server().user('stranger');
    const outcomes = await Promise.all([
      parley(['download', '999999'], env),
      parley(['download', id], asUser(env, stranger)),
    ]);
    const refused = failed(1, 'There is no such file, or you may not see it.');
    expect(outcomes).toEqual([refused, refused]);
  });

  /** The same file as a server tells of it that lies. */
  async function liar(change: { name?: string; sha256?: string }): Promise<Environment> {
    const text = 'what is sent through here is text';
    const { ada } = await sceneOn(server());
    const { file } = await ada.ok('files.upload', { file: new File([text], 'text.txt') });
    const answer = { success: true, file: { ...file, ...change }, link: { url: '', expires_at: '' } };
    const proxy = new FlakyProxy(server().url, [{ status: 200, body: JSON.stringify(answer) }]);
    proxies.push(proxy);
    return { ...asUser(env, ada), PARLEY_URL: await proxy.start(), FILE: String(file.file_id) };
  }

  test('removes bytes that do not match the hash', async () => {
    const folder = temporaryFolder();
    const lied = await liar({ sha256: sha256('something else') });
    expect(await parleyIn(folder, ['download', lied.FILE ?? '', 'x'], lied)).toEqual(
      failed(1, 'The downloaded bytes do not match the SHA-256 of the file. The download was removed.'),
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\Windows\\evil.txt', 'evil.txt'],
    ['.bashrc', '_bashrc'],
    ['..', 'file-'],
    ['a\u001b[31m\nb', 'a_[31m_b'],
  ])('takes the name %p for no path and no command', async (name, safe) => {
    const folder = temporaryFolder();
    const lied = await liar({ name });
    const { code, stdout } = await parleyIn(folder, ['download', lied.FILE ?? ''], lied);
    const expected = safe === 'file-' ? `file-${lied.FILE}` : safe;
    expect({ code, stdout }).toEqual({ code: 0, stdout: `Saved ${expected}, 33 bytes.\n` });
    expect(readdirSync(folder)).toEqual([expected]);
  });
});
