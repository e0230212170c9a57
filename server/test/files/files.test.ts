import { beforeAll, describe, expect, test } from 'bun:test';
import type { FileInfo, Message } from '@parley/contract';
import { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import {
  Connection,
  chunk,
  filePart,
  formWith,
  headOf,
  keeps,
  kept,
  lastChunk,
  partOf,
  post,
  sending,
  sha256,
  someBytes,
  textPart,
  uploading,
} from '../support/files.ts';
import { eventsAfter, eventTip, users } from '../support/people.ts';
import { receiverFor } from '../support/receiver.ts';
import { serverFor, startServer } from '../support/server.ts';
import { complaint, expectRefusal, type Reply } from '../support/wire.ts';

const newGroup = async (by: Client, ...others: Client[]) =>
  (await by.ok('messages.create_group', { name: 'Group', participants: others.map((c) => c.userId) })).group.chat_id;

const fetchAs = (by: Client, url: string) => fetch(url, { headers: { authorization: `Bearer ${by.token}` } });

async function download(by: Client, url: string): Promise<Uint8Array> {
  const response = await fetchAs(by, url);
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return response.bytes();
}

const messageIn = ({ status, body }: Reply): Message => {
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body.message as Message;
};

const fileIn = ({ status, body }: Reply): FileInfo => {
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body.file as FileInfo;
};

const bytesOf = (text: string) => new TextEncoder().encode(text);

function* permutations<T>(of: readonly T[]): Generator<T[]> {
  if (of.length < 2) yield [...of];
  for (const [i, first] of of.entries()) {
    if (of.length < 2) return;
    for (const rest of permutations(of.toSpliced(i, 1))) yield [first, ...rest];
  }
}

onAnyEngine('sending a file', (engine) => {
  const server = serverFor(engine);
  const receiver = receiverFor();
  let ada: Client;
  let bob: Client;
  let cleo: Client;
  beforeAll(async () => {
    ({ ada, bob, cleo } = await users(server(), 'ada', 'bob', 'cleo'));
  });

  const upload = async (by: Client, text: string, name = 'a.txt') =>
    (await by.ok('files.upload', { file: new File([text], name) })).file;
  const send = (by: Client, ...parts: Parameters<typeof formWith>) => post(by, sending, formWith(...parts));

  test('accepts the parts of the form in every order', async () => {
    const chat_id = await newGroup(ada, bob);
    const { message: asked } = await ada.ok('messages.send_message', { chat_id, content: 'Where is it?' });
    const bytes = someBytes(3_000);
    const parts = [
      textPart('chat_id', chat_id),
      textPart('content', 'Here it is'),
      filePart(bytes, 'answer.bin'),
      textPart('reply_to', asked.message_id),
    ];
    for (const order of permutations(parts)) {
      expect(messageIn(await send(ada, ...order))).toMatchObject({
        chat_id,
        user_id: ada.userId,
        content: 'Here it is',
        reply_to: asked.message_id,
        file: { name: 'answer.bin', mime_type: 'application/octet-stream', size: 3_000, sha256: sha256(bytes) },
      });
    }
  });

  test('accepts a file, a text, or a file with a text', async () => {
    const chat_id = await newGroup(ada, bob);
    const chat = textPart('chat_id', chat_id);
    const [text, file] = [textPart('content', 'Text'), filePart('bytes', 'a.txt')];
    expect(messageIn(await send(ada, chat, text))).toMatchObject({ content: 'Text', file: null });
    expect(messageIn(await send(ada, chat, file))).toMatchObject({ content: '', file: { name: 'a.txt' } });
    expect(messageIn(await send(ada, chat, text, file))).toMatchObject({ content: 'Text', file: { name: 'a.txt' } });
    const { messages } = await bob.ok('messages.get_messages', { chat_id });
    expect(messages.map((m) => [m.content, m.file?.name])).toEqual([
      ['Text', undefined],
      ['', 'a.txt'],
      ['Text', 'a.txt'],
    ]);
  });

  test('accepts a file that was uploaded before, as JSON and as a form', async () => {
    const chat_id = await newGroup(ada, bob);
    const file = await upload(ada, 'from before');
    const { message } = await ada.ok('messages.send_message', { chat_id, file_id: file.file_id });
    expect(message).toMatchObject({ content: '', file });
    const again = await send(
      ada,
      textPart('file_id', file.file_id),
      textPart('content', 'x'),
      textPart('chat_id', chat_id),
    );
    expect(messageIn(again)).toMatchObject({ content: 'x', file });
    expect(await download(bob, file.url)).toEqual(bytesOf('from before'));
  });

  test('refuses a file beside a file_id, and an empty message, and keeps nothing of it', async () => {
    const chat_id = await newGroup(ada);
    const { file_id } = await upload(ada, 'one');
    const before = await kept(server());
    for (const parts of [
      [textPart('chat_id', chat_id), textPart('file_id', file_id), filePart('two')],
      [filePart('two'), textPart('file_id', file_id), textPart('chat_id', chat_id)],
    ]) {
      const error = expectRefusal(await send(ada, ...parts), 'validation_failed');
      expect(complaint(error, 'file_id')).toBe('cannot be given beside file');
    }
    const none = expectRefusal(await send(ada, textPart('chat_id', chat_id)), 'validation_failed');
    expect(complaint(none, 'content')).toBe('is required, unless a file is sent');
    expectRefusal(await ada.call('messages.send_message', { chat_id }), 'validation_failed');
    await keeps(server(), before);
  });

  test('refuses a file_id unless it is a complete, unexpired file of the sender', async () => {
    const chat_id = await newGroup(ada, bob);
    const theirs = await upload(bob, 'of Bob');
    await bob.ok('messages.send_message', { chat_id, file_id: theirs.file_id });
    const { message } = await ada.ok('messages.send_message', { chat_id, file: new File(['gone'], 'gone.txt') });
    await ada.ok('messages.delete_message', { message_id: message.message_id });
    const connection = await Connection.to(ada.url);
    await connection.write(headOf(ada, `${uploading}&name=growing`, 1_000, 'text/plain') + 'x'.repeat(500));
    const growing = await eventually('there is an incomplete file', () =>
      server().engine.get<{ file_id: number }>(`SELECT file_id FROM files WHERE name = 'growing'`),
    );
    const unknown = Number.MAX_SAFE_INTEGER;
    for (const file_id of [theirs.file_id, message.file?.file_id ?? 0, growing.file_id, unknown]) {
      const error = expectRefusal(
        await ada.call('messages.send_message', { chat_id, content: 'x', file_id }),
        'validation_failed',
      );
      expect(error.details).toEqual([{ field: 'file_id', message: 'is not a file that you have uploaded' }]);
    }
    expect(await ada.refused('files.get', { file_id: growing.file_id })).toBe('not_found');
    await connection.write('x'.repeat(500));
    expect(fileIn(await connection.answer())).toMatchObject({ file_id: growing.file_id, size: 1_000 });
    connection.hangUp();
    expect(
      messageIn(await send(ada, textPart('chat_id', chat_id), textPart('file_id', growing.file_id))),
    ).toBeDefined();
  });

  test('sends one file into two chats, to be downloaded in each while a message there uses it', async () => {
    const [first, second] = [await newGroup(ada, bob), await newGroup(ada, cleo)];
    const { file_id, url } = await upload(ada, 'twice');
    expect((await fetchAs(bob, url)).status).toBe(404);
    const one = await ada.ok('messages.send_message', { chat_id: first, file_id });
    expect([(await fetchAs(bob, url)).status, (await fetchAs(cleo, url)).status]).toEqual([200, 404]);
    const two = await ada.ok('messages.send_message', { chat_id: second, file_id });
    expect(two.message.file).toEqual(one.message.file);
    await ada.ok('messages.delete_message', { message_id: one.message.message_id });
    expect([(await fetchAs(bob, url)).status, (await fetchAs(cleo, url)).status]).toEqual([404, 200]);
    const third = await ada.ok('messages.send_message', { chat_id: first, file_id });
    expect(await download(bob, third.message.file?.url ?? '')).toEqual(bytesOf('twice'));
  });

  test('has the same fields of the file in message, event and webhook, with a URL that works', async () => {
    const chat_id = await newGroup(ada, bob);
    const endpoint = receiver().endpoint();
    await bob.ok('webhooks.register', { url: endpoint.url, events: ['new_message'], secret: 'a secret', chat_id });
    const tip = await eventTip(bob);
    const bytes = someBytes(70_000);
    const { message } = await ada.ok('messages.send_message', {
      chat_id,
      content: 'Look',
      file: new File([bytes], 'a.bin'),
    });
    const file = message.file;
    expect(file).toEqual({
      file_id: expect.any(Number),
      name: 'a.bin',
      mime_type: 'application/octet-stream',
      size: bytes.length,
      sha256: sha256(bytes),
      url: `${server().url}/api/files.php?action=download&file_id=${file?.file_id}`,
    });
    const [event] = await eventsAfter(bob, tip, { chat_id });
    const { message_id } = message;
    const data = { message_id, chat_id, user_id: ada.userId, content: 'Look', file };
    expect(event?.data).toEqual(data);
    const [arrival] = await endpoint.arrived(1);
    expect(arrival?.data).toEqual(data);
    const told = arrival?.data.file as FileInfo | undefined;
    expect(await download(bob, told?.url ?? '')).toEqual(bytes);
    expect((await fetch(file?.url ?? '')).status).toBe(401);
    expect((await fetchAs(cleo, file?.url ?? '')).status).toBe(404);
    const plain = await ada.ok('messages.send_message', { chat_id, content: 'No file' });
    const [later] = (await eventsAfter(bob, tip, { chat_id })).slice(1);
    expect(later?.data).toEqual({ ...data, message_id: plain.message.message_id, content: 'No file', file: undefined });
    expect(Object.keys(later?.data ?? {})).not.toContain('file');
  });

  test('shows the file wherever the message is shown', async () => {
    const chat_id = await newGroup(ada, bob);
    const { message } = await ada.ok('messages.send_message', {
      chat_id,
      content: 'zebra',
      file: new File(['z'], 'z.txt'),
    });
    const { message_id, file } = message;
    expect(file).not.toBeNull();
    const pages = [
      { chat_id },
      { chat_id, limit: 1 },
      { chat_id, after_id: 0 },
      { chat_id, before_id: message_id + 1 },
    ];
    for (const page of pages) {
      const { messages } = await bob.ok('messages.get_messages', page);
      expect(messages.map((m) => m.file)).toEqual([file]);
    }
    const shown = [
      await bob.ok('messages.get_message', { message_id }),
      await bob.ok('messages.add_reaction', { message_id, emoji: '👍' }),
      await ada.ok('messages.edit_message', { message_id, content: 'zebra crossing' }),
      await ada.ok('messages.edit_message', { message_id, content: 'zebra crossing' }),
      await bob.ok('messages.remove_reaction', { message_id, emoji: '👍' }),
    ];
    expect(shown.map((answer) => answer.message.file)).toEqual(shown.map(() => file));
    const found = await eventually('the message is found', async () => {
      const { messages } = await bob.ok('messages.search_messages', { query: 'zebra cross', chat_id });
      return messages.length > 0 ? messages : undefined;
    });
    expect(found.map((m) => m.file)).toEqual([file]);
    await bob.ok('messages.add_reaction', { message_id, emoji: '👍' });
    const [reacted] = (await bob.ok('messages.get_messages', { chat_id })).messages;
    expect(reacted).toMatchObject({ file, reactions: [{ emoji: '👍' }] });
  });

  test('a message with only a file can get a text, and keeps its file', async () => {
    const chat_id = await newGroup(ada);
    const { message } = await ada.ok('messages.send_message', { chat_id, file: new File(['z'], 'z.txt') });
    const edited = await ada.ok('messages.edit_message', { message_id: message.message_id, content: 'A text' });
    expect(edited.message).toMatchObject({ content: 'A text', file: message.file });
  });

  test('delete_message removes the file at once', async () => {
    const chat_id = await newGroup(ada, bob);
    const { message } = await bob.ok('messages.send_message', {
      chat_id,
      content: 'x',
      file: new File(['z'], 'z.txt'),
    });
    const [message_id, url, file_id] = [message.message_id, message.file?.url ?? '', message.file?.file_id ?? 0];
    expect((await fetchAs(ada, url)).status).toBe(200);
    const deleted = await ada.ok('messages.delete_message', { message_id });
    expect(deleted.message).toMatchObject({ content: '', file: null });
    for (const someone of [ada, bob]) {
      expect((await fetchAs(someone, url)).status).toBe(404);
      expect(await someone.refused('files.get', { file_id })).toBe('not_found');
      expect((await someone.ok('messages.get_message', { message_id })).message.file).toBeNull();
      expect((await someone.ok('messages.get_messages', { chat_id })).messages.map((m) => m.file)).toEqual([null]);
    }
  });

  test('a user who leaves the chat can no longer download its files', async () => {
    const chat_id = await newGroup(ada, bob);
    const { message } = await ada.ok('messages.send_message', { chat_id, file: new File(['z'], 'z.txt') });
    const url = message.file?.url ?? '';
    expect((await fetchAs(bob, url)).status).toBe(200);
    await bob.ok('chats.leave', { chat_id });
    expect((await fetchAs(bob, url)).status).toBe(404);
    await ada.ok('chats.add_participants', { chat_id, participants: [bob.userId] });
    expect((await fetchAs(bob, url)).status).toBe(200);
  });

  test('needs the scope files, also for a file that was uploaded before', async () => {
    const { dora } = await users(server(), 'dora');
    const chat_id = await newGroup(dora);
    const { file_id } = await upload(dora, 'before');
    const made = await dora.ok('tokens.create', { name: 'writer', scopes: ['messages:write'] });
    const writer = new Client(dora.url, made.access_token, dora.userId);
    const chat = textPart('chat_id', chat_id);
    const error = expectRefusal(await send(writer, chat, filePart('x')), 'insufficient_scope');
    expect(error.message).toContain('files');
    expectRefusal(await send(writer, filePart('x'), chat), 'insufficient_scope');
    expect(messageIn(await send(writer, chat, textPart('content', 'x'))).file).toBeNull();
    expectRefusal(await send(writer, chat, textPart('file_id', file_id)), 'insufficient_scope');
  });

  test('returns URLs with the current address of the server', async () => {
    const env = await freshEnvironment(engine);
    const old = await startServer({ ...env, PUBLIC_URL: 'https://old.example' });
    const { erin } = await users(old, 'erin');
    const chat_id = await newGroup(erin);
    const { message } = await erin.ok('messages.send_message', {
      chat_id,
      content: 'x',
      file: new File(['z'], 'z.txt'),
    });
    const { file_id, url } = message.file as FileInfo;
    expect(url).toBe(`https://old.example/api/files.php?action=download&file_id=${file_id}`);
    await erin.ok('messages.get_messages', { chat_id });
    await old.stop();
    const moved = await startServer({ ...env, PUBLIC_URL: 'https://new.example' });
    try {
      const same = new Client(moved.url, erin.token, erin.userId);
      const expected = url.replace('old', 'new');
      expect((await same.ok('messages.get_messages', { chat_id })).messages[0]?.file?.url).toBe(expected);
      const { message_id } = message;
      expect((await same.ok('messages.get_message', { message_id })).message.file?.url).toBe(expected);
      expect((await same.ok('files.get', { file_id })).file.url).toBe(expected);
      // Stored events keep their bodies.
      const events = await eventsAfter(same, 0, { chat_id });
      expect(events.find((e) => e.event === 'new_message')?.data).toMatchObject({ file: { url } });
    } finally {
      await moved.stop();
    }
  });
});

onAnyEngine('uploading a file', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let bob: Client;
  beforeAll(async () => {
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
  });

  const raw = (body: BodyInit, name?: string, type = 'application/octet-stream') =>
    post(ada, name === undefined ? uploading : `${uploading}&name=${encodeURIComponent(name)}`, body, type);
  const form = (...parts: Parameters<typeof formWith>) => post(ada, uploading, formWith(...parts));

  test.each([
    'application/octet-stream',
    'application/json',
    'application/x-www-form-urlencoded',
    'text/plain',
    'image/png',
    'multipart/mixed; boundary=x',
    'nonsense',
    '',
  ])('accepts raw bytes with Content-Type %j', async (type) => {
    const text = '{"name": "not a field", "file=": 1}&name=x';
    const file = fileIn(await raw(text, 'a.txt', type));
    expect(file).toMatchObject({ name: 'a.txt', size: text.length, sha256: sha256(text) });
    expect(await download(ada, file.url)).toEqual(bytesOf(text));
  });

  test('returns identical bytes for every size, with and without Content-Length', async () => {
    for (const size of [1, 16_383, 16_384, 65_537, 1_048_576, 3_333_333]) {
      const bytes = someBytes(size, size);
      const announced = fileIn(await raw(bytes));
      const inForm = fileIn(await form(filePart(bytes)));
      const connection = await Connection.to(ada.url);
      await connection.write(headOf(ada, uploading, 'chunked', 'text/plain'));
      for (let from = 0; from < size; from += 77_777)
        await connection.write(chunk(bytes.subarray(from, from + 77_777)));
      await connection.write(lastChunk);
      const unannounced = fileIn(await connection.answer());
      connection.hangUp();
      for (const file of [announced, inForm, unannounced]) {
        expect(file).toMatchObject({ size, sha256: sha256(bytes) });
        expect(Buffer.compare(await download(ada, file.url), bytes)).toBe(0);
      }
    }
  });

  test('returns identical bytes if they contain parts of the boundary, in pieces of any size', async () => {
    const bytes = Buffer.from('\r\n--frontie\r\n--\r\r\n--frontie-\r\n\r\n--front--frontier--\r\n'.repeat(400));
    for (const step of [1_000, 4_001, 16_384]) {
      const body = formWith(textPart('name', 'boundaries.bin'), filePart(bytes));
      const connection = await Connection.to(ada.url);
      await connection.write(headOf(ada, uploading, body.length));
      for (let from = 0; from < body.length; from += step) {
        await connection.write(body.subarray(from, from + step));
        await Bun.sleep(0);
      }
      const file = fileIn(await connection.answer());
      connection.hangUp();
      expect(file).toMatchObject({ name: 'boundaries.bin', size: bytes.length, sha256: sha256(bytes) });
      expect(Buffer.compare(await download(ada, file.url), bytes)).toBe(0);
    }
  });

  test('is visible to its uploader alone until a message uses it', async () => {
    const file = fileIn(await raw('mine', 'a.txt'));
    const { file_id, url } = file;
    expect((await ada.ok('files.get', { file_id })).file).toEqual(file);
    expect(await bob.refused('files.get', { file_id })).toBe('not_found');
    expect((await fetchAs(bob, url)).status).toBe(404);
  });

  describe('its name', () => {
    const names = [
      'plain.txt',
      'Übergrößenträger.txt',
      'résumé — final (2).txt',
      'Отчёт за год.txt',
      'Ετήσια έκθεση.txt',
      'تقرير سنوي.txt',
      'דוח שנתי.txt',
      '年次報告書.txt',
      '연례 보고서.txt',
      'वार्षिक रिपोर्ट.txt',
      'รายงานประจำปี.txt',
      '👩‍👩‍👧‍👦 family.txt',
      'e\u0301 decomposed.txt',
      "it's 100% & more; a=b, c+d #1 [x] {y}~`^!.txt",
      '.hidden',
      'no extension',
      `${'€'.repeat(83)}.txt`,
      'a'.repeat(255),
    ];

    test.each(names)('is returned as given: %s', async (name) => {
      expect(fileIn(await raw('x', name)).name).toBe(name);
      expect((await ada.ok('files.upload', { file: new File(['x'], name) })).file.name).toBe(name);
      expect((await ada.ok('files.upload', { file: new File(['x'], 'other'), name })).file.name).toBe(name);
      expect(
        fileIn(
          await form(
            partOf(
              `Content-Disposition: form-data; name="file"; filename*=UTF-8''${encodeURIComponent(name).replaceAll("'", '%27')}`,
              'x',
            ),
          ),
        ).name,
      ).toBe(name);
    });

    test('keeps the quotes that a browser escapes in a form', async () => {
      const name = 'the "quoted" one.txt';
      expect(fileIn(await raw('x', name)).name).toBe(name);
      expect(fileIn(await form(filePart('x', 'the \\"quoted\\" one.txt'))).name).toBe(name);
      expect((await ada.ok('files.upload', { file: new File(['x'], name) })).file.name).toBe(name);
    });

    test.each([
      ['../../etc/passwd', 'passwd'],
      ['/etc/passwd', 'passwd'],
      ['C:\\x\\y.txt', 'y.txt'],
      ['\\\\server\\share\\y.txt', 'y.txt'],
      ['..\\..\\y.txt', 'y.txt'],
      ['a/b\\c/d.txt', 'd.txt'],
      ['folder/', 'file.txt'],
    ])('loses its path: %s', async (path, name) => {
      expect(fileIn(await form(filePart('x', path))).name).toBe(name);
      const inName = expectRefusal(await raw('x', path), 'validation_failed');
      expect(complaint(inName, 'name')).toContain('path');
    });

    const bad: [string, string][] = [
      ['.', 'path'],
      ['..', 'path'],
      ['a\0b.txt', 'U+0000'],
      ['a\u0007b.txt', 'control'],
      ['a\u001bb.txt', 'control'],
      ['a\u007fb.txt', 'control'],
      ['a\u0085b.txt', 'control'],
      ['a\u2028b.txt', 'control'],
      ['photo\u202egnp.exe', 'control'],
      ['\u2066a\u2069.txt', 'control'],
      [' ', 'blank'],
      ['\u200b', 'blank'],
      ['a'.repeat(256), '255 bytes'],
      ['€'.repeat(86), '255 bytes'],
      ['a'.repeat(4_000), '255 bytes'],
    ];
    test.each(bad)('is refused, and nothing is kept: %j', async (name, why) => {
      const before = await kept(server());
      for (const reply of [
        await raw('x', name),
        await form(filePart('x', name)),
        await form(textPart('name', name), filePart('x', 'good.txt')),
        await form(filePart('x', 'good.txt'), textPart('name', name)),
      ]) {
        expect(expectRefusal(reply, 'validation_failed').message).toContain(why);
      }
      await keeps(server(), before);
    });

    test('is derived from the type if there is none', async () => {
      expect(fileIn(await form(filePart('some text', ''))).name).toBe('file.txt');
      expect(fileIn(await form(filePart(someBytes(100), ''))).name).toBe('file.bin');
      expect(fileIn(await form(filePart(png, ''))).name).toBe('file.png');
      expect(fileIn(await form(filePart(png, ''), textPart('name', 'mine.dat'))).name).toBe('mine.dat');
    });

    test('may come before the file or after it, with the same result', async () => {
      const [name, file] = [textPart('name', 'page.html'), filePart('<p>hello', 'a.txt')];
      const before = fileIn(await form(name, file));
      const after = fileIn(await form(file, name));
      expect([after.name, after.mime_type]).toEqual([before.name, before.mime_type]);
      expect(before).toMatchObject({ name: 'page.html', mime_type: 'text/html' });
    });
  });

  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const docx = zipOf(
    '[Content_Types].xml',
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
  );
  const wordType = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
  const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

  test.each<[string, string, string | Uint8Array, string]>([
    ['a picture called a text', 'a.txt', png, 'image/png'],
    ['a page called a picture', 'a.png', '<!doctype html><script>alert(1)</script>', 'text/plain'],
    ['a page', 'a.html', '<!doctype html><p>hello', 'text/html'],
    ['a document of Word', 'a.docx', docx, wordType],
    ['a document of Word called a text', 'a.txt', docx, wordType],
    ['an archive', 'a.zip', zipOf('a.txt', 'hello'), 'application/zip'],
    ['an archive called a document', 'a.docx', zipOf('a.txt', 'hello'), 'application/zip'],
    ['a PDF', 'a.pdf', '%PDF-1.7\n%âãÏÓ\n1 0 obj\n<<>>\nendobj\n', 'application/pdf'],
    ['a PDF called a page', 'a.html', '%PDF-1.7\n1 0 obj\n<<>>\nendobj\n', 'application/pdf'],
    ['a drawing', 'a.svg', '<svg xmlns="http://www.w3.org/2000/svg"></svg>', 'image/svg+xml'],
    [
      'a drawing with a declaration',
      'a.svg',
      '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>',
      'image/svg+xml',
    ],
    ['a drawing called a photo', 'a.jpg', '<svg xmlns="http://www.w3.org/2000/svg"></svg>', 'text/plain'],
    ['a text', 'a.txt', 'hello', 'text/plain'],
    ['a text in another script', 'a.txt', 'Привет, 世界 👋\n', 'text/plain'],
    ['a text without a name for its kind', 'README', 'hello\n', 'text/plain'],
    ['a table', 'a.csv', 'a,b\n1,2\n', 'text/csv'],
    ['JSON', 'a.json', '{"a": 1}', 'application/json'],
    ['a text in UTF-16, which we do not read,', 'a.txt', utf16('Hello, 世界\r\n'), 'application/octet-stream'],
    ['a text of which the 16,384th byte is half a character', 'a.txt', `a${'é'.repeat(10_000)}`, 'text/plain'],
    ['garbage', 'a.txt', someBytes(5_000), 'application/octet-stream'],
    ['garbage called a page', 'a.html', someBytes(5_000), 'application/octet-stream'],
    ['a text with NUL in it', 'a.html', 'a\0b', 'application/octet-stream'],
    ['Latin-1', 'a.txt', Buffer.from('caf\xe9 au lait', 'latin1'), 'application/octet-stream'],
  ])('detects %s from its bytes', async (_, name, bytes, type) => {
    const file = fileIn(await form(filePart(bytes, name)));
    expect([file.name, file.mime_type]).toEqual([name, type]);
  });

  test('is refused beyond 200 files without a message', async () => {
    const { carl } = await users(server(), 'carl');
    const chat_id = await newGroup(carl);
    const file = () => new File(['x'], 'a.txt');
    const { file: first } = await carl.ok('files.upload', { file: file() });
    for (let made = 1; made < 200; made += 20) {
      await Promise.all(
        Array.from({ length: Math.min(20, 200 - made) }, () => carl.ok('files.upload', { file: file() })),
      );
    }
    const before = await kept(server());
    const error = expectRefusal(await carl.call('files.upload', { file: file() }), 'conflict');
    expect(error.message).toContain('200 files without a message');
    await keeps(server(), before);
    // A file in a message does not count.
    await carl.ok('messages.send_message', { chat_id, file: file() });
    await ada.ok('files.upload', { file: file() });
    await carl.ok('messages.send_message', { chat_id, file_id: first.file_id });
    await carl.ok('files.upload', { file: file() });
  });
});

onAnyEngine('an Idempotency-Key with a file', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let chat_id: number;
  beforeAll(async () => {
    ({ ada } = await users(server(), 'ada'));
    chat_id = await newGroup(ada);
  });

  const key = (name: string) => ({ 'idempotency-key': name });
  const chat = () => textPart('chat_id', chat_id);
  const send = (name: string, ...parts: Parameters<typeof formWith>) =>
    post(ada, sending, formWith(...parts), undefined, key(name));
  const messages = async () => (await ada.ok('messages.get_messages', { chat_id, limit: 200 })).messages.length;

  test('returns the same message again, and keeps one file', async () => {
    const [before, said] = [await kept(server()), await messages()];
    const first = await send('one', chat(), textPart('content', 'x'), filePart('bytes', 'a.txt'));
    const again = await send('one', filePart('bytes', 'a.txt'), textPart('content', 'x'), chat());
    expect(again.body).toEqual(first.body);
    expect(await download(ada, messageIn(again).file?.url ?? '')).toEqual(bytesOf('bytes'));
    expect(await messages()).toBe(said + 1);
    await keeps(server(), { rows: before.rows + 1, blobs: before.blobs + 1 });
  });

  test('turns 20 equal concurrent sends into one message with one file', async () => {
    const [before, said] = [await kept(server()), await messages()];
    const bytes = someBytes(50_000);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => send('twenty', chat(), filePart(bytes, 'a.bin'))),
    );
    expect(new Set(answers.map((a) => JSON.stringify(a.body)))).toHaveLength(1);
    const [answer] = answers;
    if (!answer) throw new Error('no answer');
    expect(Buffer.compare(await download(ada, messageIn(answer).file?.url ?? ''), bytes)).toBe(0);
    expect(await messages()).toBe(said + 1);
    await keeps(server(), { rows: before.rows + 1, blobs: before.blobs + 1 });
  });

  test('refuses other bytes, another name, another text or no file under the same key', async () => {
    messageIn(await send('other', chat(), textPart('content', 'x'), filePart('bytes', 'a.txt')));
    const before = await kept(server());
    const caption = textPart('content', 'x');
    for (const parts of [
      [chat(), caption, filePart('bytez', 'a.txt')],
      [chat(), caption, filePart('bytes', 'b.txt')],
      [chat(), textPart('content', 'y'), filePart('bytes', 'a.txt')],
      [chat(), filePart('bytes', 'a.txt')],
      [chat(), caption],
    ]) {
      expectRefusal(await send('other', ...parts), 'idempotency_conflict');
    }
    const together = ['a', 'b', 'a', 'c'];
    const answers = await Promise.all(together.map((text) => send('race', chat(), filePart(text, 'a.txt'))));
    const winners = answers.filter((a) => a.status === 200);
    expect(new Set(winners.map((a) => JSON.stringify(a.body)))).toHaveLength(1);
    for (const answer of answers.filter((a) => a.status !== 200)) expectRefusal(answer, 'idempotency_conflict');
    await keeps(server(), { rows: before.rows + 1, blobs: before.blobs + 1 });
  });

  test('does the same for uploads, in both forms', async () => {
    const before = await kept(server());
    const raw = (name: string, body: string) => post(ada, `${uploading}&name=a.txt`, body, 'text/plain', key(name));
    const form = (name: string, body: string) =>
      post(ada, uploading, formWith(filePart(body, 'a.txt')), undefined, key(name));
    for (const [name, upload] of Object.entries({ raw, form })) {
      const answers = [await upload(name, 'x'), await upload(name, 'x')];
      answers.push(...(await Promise.all(Array.from({ length: 5 }, () => upload(name, 'x')))));
      expect(new Set(answers.map((a) => fileIn(a).file_id))).toHaveLength(1);
      expectRefusal(await upload(name, 'y'), 'idempotency_conflict');
    }
    await keeps(server(), { rows: before.rows + 2, blobs: before.blobs + 2 });
  });

  test('is remembered after a restart', async () => {
    const env = await freshEnvironment(engine);
    const first = await startServer(env);
    const { erin } = await users(first, 'erin');
    const group = await newGroup(erin);
    const sendAs = (by: Client, text: string) =>
      post(by, sending, formWith(textPart('chat_id', group), filePart(text)), undefined, key('restart'));
    const { message_id } = messageIn(await sendAs(erin, 'x'));
    await first.stop();
    const second = await startServer(env);
    try {
      const same = new Client(second.url, erin.token, erin.userId);
      expect(messageIn(await sendAs(same, 'x')).message_id).toBe(message_id);
      expectRefusal(await sendAs(same, 'y'), 'idempotency_conflict');
      await keeps(second, { rows: 1, blobs: 1 });
    } finally {
      await second.stop();
    }
  });
});

/** Returns an uncompressed ZIP archive with one file. */
function zipOf(name: string, content: string): Buffer {
  const [path, data] = [Buffer.from(name), Buffer.from(content)];
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt32LE(Bun.hash.crc32(data), 10);
  common.writeUInt32LE(data.length, 14);
  common.writeUInt32LE(data.length, 18);
  common.writeUInt16LE(path.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, path, data]);
  const central = Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), common, Buffer.alloc(14), path]);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(1, 4);
  end.writeUInt16LE(1, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(local.length, 12);
  return Buffer.concat([local, central, Buffer.from('PK\x05\x06'), end]);
}
