import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { ErrorCode } from '@parley/contract';
import fc from 'fast-check';
import { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine } from '../support/engines.ts';
import {
  Connection,
  chunk,
  filePart,
  formEnd,
  formType,
  formWith,
  headOf,
  type Kept,
  keeps,
  kept,
  lastChunk,
  nothing,
  openForm,
  type Part,
  partOf,
  post,
  sending,
  someBytes,
  textPart,
  underWay,
  uploading,
} from '../support/files.ts';
import { users } from '../support/people.ts';
import { serverFor, startServer } from '../support/server.ts';
import { complaint, expectRefusal, statuses } from '../support/wire.ts';

const fileLimit = 200_000;
const bodyLimit = 1_048_576;
const lengths = [100_000_000, 'chunked'] as const;

/** Encodes a body as its head announces. */
const asAnnounced = (length: number | 'chunked', bytes: string | Uint8Array) =>
  length === 'chunked' ? chunk(bytes) : bytes;

onAnyEngine('a file that is refused early', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let bob: Client;
  let group: number;
  let channel: number;
  beforeAll(async () => {
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
    group = (await ada.ok('messages.create_group', { name: 'Group', participants: [] })).group.chat_id;
    channel = (await ada.ok('messages.create_channel', { name: 'Channel', participants: [bob.userId] })).channel
      .chat_id;
  });
  afterEach(() => keeps(server(), nothing));

  const writer = async () => {
    const { access_token } = await ada.ok('tokens.create', { name: 'writer', scopes: ['messages:write'] });
    return new Client(ada.url, access_token, ada.userId);
  };
  const cases: [string, ErrorCode, () => Promise<Client>, () => number][] = [
    ['a stranger to the chat', 'not_found', async () => bob, () => group],
    ['a mere member of the channel', 'forbidden', async () => bob, () => channel],
    ['somebody who names a chat that is not there', 'not_found', async () => ada, () => Number.MAX_SAFE_INTEGER],
    ['a token without the scope files', 'insufficient_scope', writer, () => group],
  ];

  describe.each(cases)('from %s', (_, code, who, chat) => {
    test.each(lengths)(
      'is answered before its bytes are read, where the chat comes first (length: %s)',
      async (length) => {
        const by = await who();
        const connection = await Connection.to(by.url);
        await connection.write(headOf(by, sending, length));
        const beginning = openForm(textPart('chat_id', chat()), filePart(someBytes(1_000)));
        await connection.write(asAnnounced(length, beginning));
        expectRefusal(await connection.answer(), code);
        expect(await kept(server())).toEqual(nothing);
        await connection.closed();
      },
    );

    test('is received and dropped if the file comes first', async () => {
      const by = await who();
      const body = formWith(filePart(someBytes(100_000)), textPart('chat_id', chat()));
      expectRefusal(await post(by, sending, body), code);
    });
  });

  test('the response reaches a client that sends 100 MB as fast as it can', async () => {
    const connection = await Connection.to(bob.url);
    await connection.write(headOf(bob, sending, lengths[0]));
    await connection.write(openForm(textPart('chat_id', group), filePart('')));
    const megabyte = someBytes(1_000_000);
    for (let sent = 0; sent < 100 && !connection.isAnswered; sent++) await connection.write(megabyte);
    expectRefusal(await connection.answer(), 'not_found');
  });

  test('a caller without the scope files, or without a token, uploads nothing', async () => {
    const by = await writer();
    for (const [token, code] of [
      [by.token, 'insufficient_scope'],
      ['pat_nonsense', 'unauthorized'],
    ] as const) {
      const caller = new Client(by.url, token, by.userId);
      for (const [length, type] of lengths.flatMap((l) => [[l, 'text/plain'] as const, [l, formType] as const])) {
        const connection = await Connection.to(by.url);
        await connection.write(headOf(caller, uploading, length, type));
        await connection.write(asAnnounced(length, openForm(filePart('x'))));
        expectRefusal(await connection.answer(), code);
        connection.hangUp();
      }
    }
  });

  describe('that is interrupted', () => {
    const bodies: [string, string, string, (bytes: Uint8Array) => Uint8Array][] = [
      ['as a message', sending, formType, (bytes) => openForm(textPart('chat_id', group), filePart(bytes))],
      ['as a message, the file first', sending, formType, (bytes) => openForm(filePart(bytes))],
      ['as an upload', uploading, formType, (bytes) => openForm(filePart(bytes))],
      ['as its bytes', uploading, 'text/plain', (bytes) => bytes],
    ];
    test.each(bodies)('%s, leaves nothing', async (_, path, type, body) => {
      for (const length of [...lengths, 2 ** 31]) {
        for (const size of [10, 2_500_000]) {
          const connection = await Connection.to(ada.url);
          await connection.write(headOf(ada, path, length, type));
          await connection.write(asAnnounced(length, body(someBytes(size))));
          await underWay(server());
          connection.hangUp();
          await keeps(server(), nothing);
        }
      }
      expect((await ada.ok('messages.get_messages', { chat_id: group })).messages).toEqual([]);
    });

    test('after the end of its form but before its Content-Length is not sent', async () => {
      const body = formWith(textPart('chat_id', group), textPart('content', 'x'), filePart('bytes'));
      const connection = await Connection.to(ada.url);
      await connection.write(headOf(ada, sending, body.length + 100));
      await connection.write(body);
      await underWay(server());
      connection.hangUp();
      await keeps(server(), nothing);
      expect((await ada.ok('messages.get_messages', { chat_id: group })).messages).toEqual([]);
    });
  });

  test('one byte more than 2 GiB is refused by its Content-Length', async () => {
    for (const [path, type, around] of [
      [uploading, 'text/plain', 0],
      [uploading, formType, bodyLimit],
      [sending, formType, bodyLimit],
    ] as const) {
      const connection = await Connection.to(ada.url);
      await connection.write(headOf(ada, path, 2 ** 31 + around + 1, type));
      expectRefusal(await connection.answer(), 'payload_too_large');
      connection.hangUp();
    }
  });
});

onAnyEngine('an invalid form with a file', (engine) => {
  const server = serverFor(engine, { PARLEY_FILE_LIMIT: String(fileLimit) });
  let ada: Client;
  let chat_id: number;
  beforeAll(async () => {
    ({ ada } = await users(server(), 'ada'));
    chat_id = (await ada.ok('messages.create_group', { name: 'Group', participants: [] })).group.chat_id;
  });
  const lastMessage = async () => (await ada.ok('chats.get', { chat_id })).chat.last_message_id;
  let before: { readonly files: Kept; readonly message: number | null };
  beforeEach(async () => {
    before = { files: await kept(server()), message: await lastMessage() };
  });
  afterEach(async () => {
    await keeps(server(), before.files);
    expect(await lastMessage()).toBe(before.message);
  });

  /** Checks that a form is refused wherever its invalid part is. */
  async function refused(code: ErrorCode, field: string | undefined, ...parts: Part[]): Promise<string> {
    const fields = [textPart('chat_id', chat_id), textPart('content', 'x')];
    const before = expectRefusal(await post(ada, sending, formWith(...fields, ...parts)), code);
    const after = expectRefusal(await post(ada, sending, formWith(...parts, ...fields)), code);
    const said = [before, after].map((error) => (field ? complaint(error, field) : error.message));
    expect(said[1]).toBe(said[0] ?? 'a complaint about the field');
    return said[0] ?? '';
  }

  describe('in its fields', () => {
    test('two files', async () => {
      expect(await refused('validation_failed', 'file', filePart('one'), filePart('two'))).toBe(
        'is given more than once',
      );
    });

    test('a file and a text of the same name', async () => {
      expect(await refused('validation_failed', 'file', filePart('one'), textPart('file', 'two'))).toBe(
        'is given more than once',
      );
      await refused('validation_failed', 'file', textPart('file', 'two'), filePart('one'));
    });

    test('a text where a file belongs', async () => {
      expect(await refused('validation_failed', 'file', textPart('file', 'no file'))).toContain('must be a file');
    });

    test('a file where a text belongs, or nothing', async () => {
      for (const name of ['reply_to', 'attachment', 'file[]', '']) {
        expect(await refused('validation_failed', name, filePart('x', 'a.txt', name))).toContain('is a file');
        await refused('validation_failed', name, filePart('x'), filePart('x', 'a.txt', name));
      }
    });

    test('an unknown field', async () => {
      expect(await refused('validation_failed', 'fil', filePart('x'), textPart('fil', 'x'))).toContain(
        'did you mean file',
      );
      const uploaded = await post(ada, uploading, formWith(filePart('x'), textPart('chat_id', chat_id)));
      expect(complaint(expectRefusal(uploaded, 'validation_failed'), 'chat_id')).toContain('not a field');
      const raw = await post(ada, `${uploading}&nmae=x`, 'x', 'text/plain');
      expect(complaint(expectRefusal(raw, 'validation_failed'), 'nmae')).toContain('did you mean name');
    });

    test('a field with a wrong value', async () => {
      expect(await refused('validation_failed', 'reply_to', filePart('x'), textPart('reply_to', 'abc'))).toContain(
        'integer',
      );
      await refused('validation_failed', 'reply_to', filePart('x'), textPart('reply_to', Number.MAX_SAFE_INTEGER));
      const blank = formWith(textPart('chat_id', chat_id), filePart('x'), textPart('content', ' '));
      expect(complaint(expectRefusal(await post(ada, sending, blank), 'validation_failed'), 'content')).toContain(
        'blank',
      );
    });

    test('a field given twice', async () => {
      await refused('validation_failed', 'content', filePart('x'), textPart('content', 'y'));
    });

    test('fields that are larger than a body', async () => {
      const large = textPart('content', 'x'.repeat(bodyLimit + 1));
      for (const parts of [[large], [filePart('x'), large], [large, filePart('x')]]) {
        expectRefusal(await post(ada, sending, formWith(...parts)), 'payload_too_large');
      }
    });

    test('an invalid Idempotency-Key', async () => {
      const body = formWith(textPart('chat_id', chat_id), filePart('x'));
      expectRefusal(await post(ada, sending, body, formType, { 'idempotency-key': 'a b' }), 'invalid_request');
    });
  });

  describe('in its file', () => {
    test('no bytes', async () => {
      expect(await refused('validation_failed', 'file', filePart('', 'a.txt'))).toBe('is empty');
      expectRefusal(await post(ada, uploading, formWith(filePart('', 'a.txt'))), 'validation_failed');
      for (const body of ['', new Uint8Array()]) {
        const error = expectRefusal(await post(ada, uploading, body, 'text/plain'), 'validation_failed');
        expect(complaint(error, 'file')).toBe('is empty');
      }
    });

    test('no file, as from an empty field of a browser', async () => {
      const empty = filePart('', '');
      const alone = expectRefusal(
        await post(ada, sending, formWith(textPart('chat_id', chat_id), empty)),
        'validation_failed',
      );
      expect(complaint(alone, 'content')).toBe('is required, unless a file is sent');
      const uploaded = expectRefusal(await post(ada, uploading, formWith(empty)), 'validation_failed');
      expect(complaint(uploaded, 'file')).toBe('is required');
      const none = expectRefusal(await post(ada, uploading, formWith(textPart('name', 'x'))), 'validation_failed');
      expect(complaint(none, 'file')).toBe('is required');
    });

    test('more bytes than the limit, with and without Content-Length', async () => {
      const over = someBytes(fileLimit + 1);
      for (const [path, type, body] of [
        [uploading, 'text/plain', over],
        [uploading, formType, formWith(filePart(over))],
        [sending, formType, formWith(textPart('chat_id', chat_id), filePart(over))],
        [sending, formType, formWith(filePart(over), textPart('chat_id', chat_id))],
      ] as const) {
        expectRefusal(await post(ada, path, body, type), 'payload_too_large');
        const connection = await Connection.to(ada.url);
        await connection.write(headOf(ada, path, 'chunked', type));
        await connection.write(chunk(body));
        await connection.write(lastChunk);
        const error = expectRefusal(await connection.answer(), 'payload_too_large');
        expect(error.message).toContain(String(fileLimit));
        connection.hangUp();
      }
    });

    test('far more bytes than the limit: it stops at the limit', async () => {
      const connection = await Connection.to(ada.url);
      await connection.write(headOf(ada, uploading, 'chunked', 'text/plain'));
      const piece = chunk(someBytes(100_000));
      for (let sent = 0; sent < 1_000 && !connection.isAnswered; sent++) await connection.write(piece);
      expectRefusal(await connection.answer(), 'payload_too_large');
    });
  });

  describe('in its shape', () => {
    const file = filePart(someBytes(1_000), 'a.bin');
    const fields = () => [textPart('chat_id', chat_id), textPart('content', 'x')];

    test('truncated anywhere', async () => {
      const whole = formWith(...fields(), filePart('the bytes of the file', 'a.txt'));
      const end = whole.length - formEnd.trimEnd().length;
      for (let length = 0; length < whole.length - 2; length += length < end ? 9 : 1) {
        expectRefusal(await post(ada, sending, whole.subarray(0, length)), 'invalid_request');
      }
    });

    test('a wrong, empty or missing boundary', async () => {
      const body = formWith(...fields(), file);
      for (const boundary of [
        '; boundary=other',
        '',
        '; boundary=',
        '; boundary=""',
        `; boundary=${'x'.repeat(1_000)}`,
      ]) {
        expectRefusal(await post(ada, sending, body, `multipart/form-data${boundary}`), 'invalid_request');
      }
    });

    test('a long text before the first boundary: it is not read to its end', async () => {
      const connection = await Connection.to(ada.url);
      await connection.write(headOf(ada, sending, 'chunked'));
      const piece = chunk(new Uint8Array(50_000));
      for (let sent = 0; sent < 1_000 && !connection.isAnswered; sent++) await connection.write(piece);
      expectRefusal(await connection.answer(), 'invalid_request');
    });

    test('10,000 parts', async () => {
      const many = Array.from({ length: 10_000 }, () => textPart('content', 'x'));
      for (const parts of [
        [...many, file],
        [file, ...many],
      ]) {
        expect(expectRefusal(await post(ada, sending, formWith(...parts)), 'invalid_request').message).toContain(
          'parts',
        );
      }
    });

    test('10,000 parts that are no fields', async () => {
      const many = Array.from({ length: 10_000 }, () => partOf('X-Nothing: x', 'x'));
      expectRefusal(await post(ada, sending, formWith(...fields(), ...many)), 'invalid_request');
    });

    const disposition = 'Content-Disposition: form-data; name="file"; filename="a.txt"';
    const odd: [string, string][] = [
      ['without Content-Disposition', 'Content-Type: text/plain'],
      ['without any header', 'X'],
      ['with another disposition', 'Content-Disposition: attachment; name="file"; filename="a.txt"'],
      ['without a name', 'Content-Disposition: form-data; filename="a.txt"'],
      ['with a line break in the name of its file', disposition.replace('a.txt', 'a\n.txt')],
      ['with a carriage return in the name of its file', disposition.replace('a.txt', 'a\r.txt')],
      ['with a header before it that is too long', `X-Long: ${'x'.repeat(20_000)}\r\n${disposition}`],
      ['with too many headers before it', `${'X-Some: x\r\n'.repeat(2_000)}${disposition}`],
    ];
    test.each(odd)('a part %s: it is refused, not ignored', async (_, head) => {
      const part = partOf(head, 'bytes');
      for (const parts of [
        [...fields(), part],
        [part, ...fields()],
      ]) {
        const reply = await post(ada, sending, formWith(...parts));
        expect([400, 422]).toContain(reply.status);
      }
    });

    test('a part whose headers do not end gets a response', async () => {
      const endless = ['Content-Disposition: form-data; name="file"; filename="a.txt"', 'X-Header: y\r\n', 'x', ''];
      for (const part of endless) {
        expectRefusal(await post(ada, sending, formWith(...fields(), part)), 'invalid_request');
        expectRefusal(await post(ada, sending, formWith(file, part, ...fields())), 'invalid_request');
      }
    });

    test('endless headers of a part are not read to their end', async () => {
      const connection = await Connection.to(ada.url);
      await connection.write(headOf(ada, sending, 'chunked'));
      await connection.write(chunk(openForm(...fields(), 'X-Long: ')));
      const piece = chunk('x'.repeat(100_000));
      for (let sent = 0; sent < 300 && !connection.isAnswered; sent++) await connection.write(piece);
      expect(connection.isAnswered).toBeTrue();
      expectRefusal(await connection.answer(), 'invalid_request');
    });

    test('a name of a file that is not UTF-8', async () => {
      const part = Buffer.from(
        'Content-Disposition: form-data; name="file"; filename="caf\xe9.txt"\r\n\r\nx',
        'latin1',
      );
      expectRefusal(await post(ada, sending, formWith(...fields(), part)), 'invalid_request');
    });

    test('a Content-Length that is too short', async () => {
      const body = formWith(...fields(), file);
      const connection = await Connection.to(ada.url);
      await connection.write(headOf(ada, sending, body.length - 30));
      await connection.write(body.subarray(0, -100));
      await underWay(server());
      await connection.write(body.subarray(-100));
      expect((await connection.answer()).status).toBe(400);
      connection.hangUp();
    });

    test('an invalid chunk', async () => {
      for (const [path, type, body] of [
        [sending, formType, openForm(...fields(), file)],
        [uploading, 'text/plain', someBytes(1_000)],
      ] as const) {
        const connection = await Connection.to(ada.url);
        await connection.write(headOf(ada, path, 'chunked', type));
        await connection.write(chunk(body));
        await underWay(server());
        await connection.write('not a chunk\r\n');
        await connection.closed();
        await keeps(server(), before.files);
      }
    });
  });
});

onAnyEngine('the limits of a form', (engine) => {
  test('accept a file of the maximum size beside fields', async () => {
    const server = await startServer({ ...(await freshEnvironment(engine)), PARLEY_FILE_LIMIT: String(fileLimit) });
    try {
      const { ada } = await users(server, 'ada');
      const { group } = await ada.ok('messages.create_group', { name: 'Group', participants: [] });
      const bytes = someBytes(fileLimit);
      const form = formWith(
        textPart('chat_id', group.chat_id),
        textPart('content', 'x'.repeat(16_384)),
        filePart(bytes),
      );
      expect((await post(ada, sending, form)).status).toBe(200);
      expect((await post(ada, uploading, bytes, 'text/plain')).status).toBe(200);
      const connection = await Connection.to(ada.url);
      await connection.write(headOf(ada, uploading, 'chunked', 'text/plain'));
      await connection.write(chunk(bytes));
      await connection.write(lastChunk);
      expect((await connection.answer()).status).toBe(200);
      connection.hangUp();
    } finally {
      await server.stop();
    }
  });

  test('accept a list that has more parts than a form with a file', async () => {
    const server = await startServer(await freshEnvironment(engine));
    try {
      const { ada, bob } = await users(server, 'ada', 'bob');
      const participants = Array.from({ length: 1_000 }, () => textPart('participants[]', bob.userId));
      const made = await post(
        ada,
        'messages.php?action=create_group',
        formWith(textPart('name', 'x'), ...participants),
      );
      expect(made.body).toMatchObject({ success: true, group: { participant_count: 2 } });
    } finally {
      await server.stop();
    }
  });

  test('give a response to every mutated form, and keep a file only after a success', async () => {
    const server = await startServer(await freshEnvironment(engine));
    try {
      const { ada } = await users(server, 'ada');
      const { group } = await ada.ok('messages.create_group', { name: 'Group', participants: [] });
      const form = formWith(textPart('chat_id', group.chat_id), filePart('bytes', 'a.txt'), textPart('content', 'x'));
      const piece = fc.constantFrom(
        '\r',
        '\n',
        '\r\n',
        '\r\n\r\n',
        '--',
        '--frontier',
        '\r\n--frontier\r\n',
        '"',
        ';',
        '\0',
        'x',
        ':',
      );
      const change = fc.record({ at: fc.nat(form.length), drop: fc.nat(12), put: piece });
      let files = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
          const body = changes.reduce<Buffer>(
            (all, { at, drop, put }) => Buffer.concat([all.subarray(0, at), Buffer.from(put), all.subarray(at + drop)]),
            form,
          );
          const { status, body: said } = await post(ada, sending, Buffer.from(body));
          expect([200, statuses.invalid_request, statuses.validation_failed, statuses.not_found]).toContain(status);
          if (status === 200 && (said.message as { file: unknown }).file) files++;
        }),
        { numRuns: 150, endOnFailure: true },
      );
      await keeps(server, { rows: files, blobs: files });
    } finally {
      await server.stop();
    }
  });
});
