import { beforeAll, describe, expect, test } from 'bun:test';
import { listOperations, type NamedOperation } from '@parley/contract';
import { z } from 'zod';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { buildExamples, callerOf, exampleServers, type People, withoutChance } from '../support/examples.ts';
import { eventTip } from '../support/people.ts';
import { serverFor, standingStill } from '../support/server.ts';
import { complaint, encodings, expectRefusal, request } from '../support/wire.ts';

/** A body that may be the bytes of a file is no JSON: that one has tests of its own. */
const rows = listOperations().filter((row) => !row.rawFile);
const posts = rows.filter((row) => row.method === 'POST');

interface FieldSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly items?: FieldSchema;
}

/** The fields of a row's input, as the API's description gives them. */
function fieldsOf(row: NamedOperation): { name: string; required: boolean; schema: FieldSchema }[] {
  const schema = z.toJSONSchema(row.input, { io: 'input' }) as {
    properties?: Record<string, FieldSchema>;
    required?: string[];
  };
  return Object.entries(schema.properties ?? {}).map(([name, field]) => ({
    name,
    required: schema.required?.includes(name) ?? false,
    schema: field,
  }));
}

const example = (row: NamedOperation, changes: object = {}, without?: string) => {
  const { [without ?? '']: _, ...rest } = { ...(row.example.input as Record<string, unknown>), ...changes };
  return rest;
};

/** Sends the examples of all POST rows in the order of the table, to a server of their own; answers what came back. */
async function sendExamples(
  start: ReturnType<typeof exampleServers>,
  encode: (typeof encodings)['JSON'],
): Promise<object> {
  const { server, people } = await start();
  try {
    const answers: Record<string, unknown> = {};
    for (const row of posts) {
      const { body, headers } = encode(row.example.input as object);
      answers[row.name] = await request(`${server.url}/api/${row.resource}.php?action=${row.action}`, {
        method: 'POST',
        body,
        headers: { ...headers, ...callerOf(row, people).credential() },
      }).then((reply) => ({ status: reply.status, body: withoutChance(reply.body) }));
    }
    return answers;
  } finally {
    await server.stop();
  }
}

onAnyEngine('every POST', (engine) => {
  // No webhook is tried a second time, however long it takes.
  const start = exampleServers(engine, standingStill());
  let asJson: object;
  test('takes JSON', async () => {
    asJson = await sendExamples(start, encodings.JSON);
    for (const [name, answer] of Object.entries(asJson))
      expect({ name, ...answer }).toMatchObject({ name, status: 200 });
  });

  for (const [name, encode] of Object.entries(encodings).filter(([name]) => name !== 'JSON')) {
    test(`takes ${name}, with the answer that JSON gets`, async () => {
      expect(await sendExamples(start, encode as (typeof encodings)['JSON'])).toEqual(asJson);
    });
  }
});

onAnyEngine('input', (engine) => {
  const server = serverFor(engine);
  let people: People;
  let ada: Client;
  beforeAll(async () => {
    people = await buildExamples(server());
    ada = people.ada;
  });

  const post = (body: BodyInit, type: string | undefined, action = 'messages.php?action=send_message') =>
    request(`${server().url}/api/${action}`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${ada.token}`, ...(type !== undefined && { 'content-type': type }) },
    });
  const json = (body: BodyInit) => post(body, 'application/json');
  const form = (body: BodyInit) => post(body, 'application/x-www-form-urlencoded');

  describe('field by field, for every row', () => {
    test('a missing field is named', async () => {
      for (const row of rows) {
        for (const { name } of fieldsOf(row).filter((f) => f.required)) {
          const error = expectRefusal(
            await callerOf(row, people).call(row.name, example(row, {}, name) as never),
            'validation_failed',
          );
          expect({ row: row.name, details: error.details }).toEqual({
            row: row.name,
            details: [{ field: name, message: 'is required' }],
          });
        }
      }
    });

    test('an unknown field is named', async () => {
      for (const row of rows) {
        const input = example(row, { zzzzzzzzzzzz: 'x' });
        const error = expectRefusal(await callerOf(row, people).call(row.name, input as never), 'validation_failed');
        expect(error.details.map((d) => d.field)).toEqual(['zzzzzzzzzzzz']);
        expect(error.message).not.toContain('did you mean');
      }
    });

    test('a misspelt field is named with a suggestion', async () => {
      for (const row of rows) {
        for (const { name } of fieldsOf(row)) {
          const camelCase = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
          const typos = [`${name}s`, name.slice(0, -1), ...(camelCase === name ? [] : [camelCase])];
          for (const typo of typos.filter((typo) => !fieldsOf(row).some((field) => field.name === typo))) {
            const error = expectRefusal(
              await callerOf(row, people).call(row.name, { [typo]: '1' } as never),
              'validation_failed',
            );
            expect({ row: row.name, typo, said: complaint(error, typo) }).toEqual({
              row: row.name,
              typo,
              said: expect.stringContaining(`did you mean ${name}?`),
            });
          }
        }
      }
    });

    test('a value of the wrong type is distinguished from a missing one', async () => {
      for (const row of rows) {
        for (const { name, schema } of fieldsOf(row)) {
          if (row.method === 'GET' && schema.type !== 'integer') continue;
          const wrong = row.method === 'GET' ? 'abc' : {};
          const reply = await callerOf(row, people).call(row.name, example(row, { [name]: wrong }) as never);
          const said = complaint(expectRefusal(reply, 'validation_failed'), name);
          expect({ row: row.name, name, said }).toEqual({
            row: row.name,
            name,
            said: expect.stringMatching(/^must be/),
          });
        }
      }
    });

    test('an integer is from 0 or 1 to 2^53 - 1', async () => {
      for (const row of rows) {
        for (const { name, schema } of fieldsOf(row)) {
          const list = schema.type === 'array';
          if ((list ? schema.items?.type : schema.type) !== 'integer') continue;
          const never = [-1, 1.5, 2 ** 53, 2 ** 63, 1e300, 'abc', '', '1e3', '0x10', '1.0', ' 1', '９'];
          const startsAtOne = name.endsWith('_id') && !name.startsWith('after');
          // One user or many: an input has only one of the two fields.
          const without = name === 'user_ids' ? 'user_id' : undefined;
          const onlyInJson = row.method === 'POST' ? [null, true, '1', [], {}] : ['9'.repeat(400)];
          for (const bad of [...never, ...onlyInJson, ...(startsAtOne ? [0] : [])]) {
            const reply = await callerOf(row, people).call(
              row.name,
              example(row, { [name]: list ? [bad] : bad }, without) as never,
            );
            const error = expectRefusal(reply, 'validation_failed');
            const named = new Set(error.details.map((d) => d.field));
            expect({ row: row.name, bad, named }).toEqual({
              row: row.name,
              bad,
              named: new Set([list ? `${name}[0]` : name]),
            });
          }
        }
      }
    });

    test('a text contains neither U+0000 nor half a surrogate pair', async () => {
      for (const row of rows) {
        for (const { name, schema } of fieldsOf(row)) {
          if (schema.type !== 'string' || schema.enum) continue;
          const bad = row.method === 'POST' ? ['a\0bcdefghij', 'abcdefghij\ud83d', '\udc4babcdefghij'] : ['a\0b'];
          for (const text of bad) {
            // A test is of a webhook, or of a URL with its secret.
            const isOfUrl = row.name === 'webhooks.test' && (name === 'url' || name === 'secret');
            const others = isOfUrl ? { url: 'http://127.0.0.1:9/hook', secret: 'a secret of yours' } : {};
            const input = example(row, { ...others, [name]: text }, isOfUrl ? 'webhook_id' : undefined);
            const reply = await callerOf(row, people).call(row.name, input as never);
            const error = expectRefusal(reply, 'validation_failed');
            expect(new Set(error.details.map((d) => d.field))).toEqual(new Set([name]));
          }
        }
      }
    });

    test('a limit goes from 1 to 200', async () => {
      for (const row of rows.filter((r) => fieldsOf(r).some((f) => f.name === 'limit'))) {
        for (const limit of [0, 201]) {
          const reply = await callerOf(row, people).call(row.name, example(row, { limit }) as never);
          expect(complaint(expectRefusal(reply, 'validation_failed'), 'limit')).toMatch(
            /^must be at (least 1|most 200)$/,
          );
        }
        for (const limit of [1, 200]) {
          expect((await callerOf(row, people).call(row.name, example(row, { limit }) as never)).status).toBe(200);
        }
      }
    });

    test('every wrong field is named at once', async () => {
      const error = expectRefusal(await json('{"content": " ", "reply_to": -1, "chatid": 1}'), 'validation_failed');
      expect(error.details.map((d) => d.field).sort()).toEqual(['chat_id', 'chatid', 'content', 'reply_to']);
    });
  });

  describe('JSON', () => {
    test.each([
      '',
      ' ',
      '{',
      '{"chat_id": 1,}',
      "{'chat_id': 1}",
      '{"chat_id": NaN}',
      '{} {}',
      '{"a": "\n"}',
      'chat_id=1',
    ])('that is broken is refused: %j', async (body) => {
      expectRefusal(await json(body), 'invalid_request');
    });

    test.each(['[]', '[{"chat_id": 1, "content": "x"}]', '1', '"text"', 'null', 'true'])(
      'that is not an object is refused: %s',
      async (body) => {
        expectRefusal(await json(body), 'invalid_request');
      },
    );

    test('may name its character set, begin with a byte order mark, and write its type in any case', async () => {
      const body = '{"chat_id": 1, "content": "ok"}';
      for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset="UTF-8"']) {
        expect((await post(body, type)).status).toBe(200);
      }
      expect((await json(`\ufeff${body}`)).status).toBe(200);
    });

    test('nested 100,000 deep is rejected, and the server keeps running', async () => {
      const deep = (open: string, close: string) => `${open.repeat(100_000)}1${close.repeat(100_000)}`;
      const bodies = [
        deep('[', ']'),
        deep('{"a":', '}'),
        `{"chat_id": 1, "content": ${deep('[', ']')}}`,
        `{"chat_id": 1, "content": "x", "other": ${deep('{"a":', '}')}}`,
        `{"chat_id": ${'['.repeat(300_000)}`,
      ];
      for (const body of bodies) expect([400, 422]).toContain((await json(body)).status);
      expect((await ada.call('users.me', {})).status).toBe(200);
    });

    test.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
      'with the key %s has an unknown field, and nothing is changed by it',
      async (key) => {
        const body = `{"chat_id": 1, "content": "x", "${key}": {"admin": true, "chat_id": 2}}`;
        expect(complaint(expectRefusal(await json(body), 'validation_failed'), key)).toContain('not a field');
        const asForm = await form(new URLSearchParams({ chat_id: '1', content: 'x', [key]: 'y' }).toString());
        expect(complaint(expectRefusal(asForm, 'validation_failed'), key)).toContain('not a field');
        expect(({} as { admin?: unknown }).admin).toBeUndefined();
      },
    );

    test('has no inherited fields', async () => {
      const error = expectRefusal(await json('{"__proto__": {"chat_id": 1, "content": "x"}}'), 'validation_failed');
      expect(error.details.map((d) => d.field).sort()).toEqual(['__proto__', 'chat_id']);
    });
  });

  describe('forms', () => {
    const list = (body: BodyInit, type?: string) => post(body, type, 'messages.php?action=create_group');

    test('a list may be empty, as JSON', async () => {
      const reply = await list('name=Empty&participants=[]', 'application/x-www-form-urlencoded');
      expect(reply.body).toMatchObject({ success: true, group: { participant_count: 1 } });
    });

    test.each(['participants=abc', 'participants[]=1.5', 'participants=["a"]', 'participants=', 'participants=[2'])(
      'a list with something else in it names that element: %s',
      async (field) => {
        const reply = await list(`name=X&${field}`, 'application/x-www-form-urlencoded');
        expect(expectRefusal(reply, 'validation_failed').details[0]?.field).toBe('participants[0]');
      },
    );

    test('a field that is not a list is rejected if it comes twice', async () => {
      for (const body of ['chat_id=1&content=a&content=b', 'chat_id=1&chat_id=2&content=a']) {
        expect(expectRefusal(await form(body), 'validation_failed').message).toContain('more than once');
      }
    });

    test('plus signs, percent signs and ampersands are decoded', async () => {
      const content = '100% + 1 & = "?" #\r\n\t;/\\ é 漢 😀';
      const reply = await form(new URLSearchParams({ chat_id: '1', content }).toString());
      expect(reply.body).toMatchObject({ message: { content } });
      expect((await form('chat_id=1&content=a+b%2Bc')).body).toMatchObject({ message: { content: 'a b+c' } });
    });

    test('multipart keeps line ends, quotes and boundaries inside a value', async () => {
      const content = 'one\r\ntwo\nthree\rfour "five" --boundary\r\n--six';
      const part = (name: string, value: string) =>
        `--boundaryB\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
      const body = `${part('chat_id', '1')}${part('content', content)}--boundaryB--\r\n`;
      const reply = await post(body, 'multipart/form-data; boundary="boundaryB"');
      expect(reply.body).toMatchObject({ message: { content } });
    });

    test('a list is one field per element, up to its limit', async () => {
      const fields = ['name=Many', ...Array.from({ length: 1_000 }, () => `participants[]=${people.bob.userId}`)];
      const reply = await list(fields.join('&'), 'application/x-www-form-urlencoded');
      expect(reply.body).toMatchObject({ success: true, group: { participant_count: 2 } });
    });

    test('multipart with too many parts is rejected', async () => {
      const part = (name: string) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n1\r\n`;
      const body = `${part('participants').repeat(2_001)}--b--\r\n`;
      const error = expectRefusal(await list(body, 'multipart/form-data; boundary=b'), 'invalid_request');
      expect(error.message).toContain('at most 2000 parts');
    });

    test('booleans are true and false, or 1 and 0', async () => {
      const create = (name: string, is_admin: string) =>
        post(`name=${name}&is_admin=${is_admin}`, 'application/x-www-form-urlencoded', 'users.php?action=create');
      // Only a browser's session may create an administrator.
      for (const yes of ['true', '1']) expectRefusal(await create('truthful', yes), 'forbidden');
      expect((await create('falsity', '0')).body).toMatchObject({ user: { is_admin: false } });
      expect(complaint(expectRefusal(await create('maybe', 'perhaps'), 'validation_failed'), 'is_admin')).toBeDefined();
    });

    test('a file in a text field is rejected with the name of the field', async () => {
      const data = new FormData();
      data.append('chat_id', '1');
      data.append('content', new Blob(['hello']), 'hello.txt');
      const reply = await post(await new Response(data).bytes(), undefined);
      expectRefusal(reply, 'unsupported_media_type');
      const named = await request(`${server().url}/api/messages.php?action=send_message`, {
        method: 'POST',
        body: data,
        headers: { authorization: `Bearer ${ada.token}` },
      });
      expect(complaint(expectRefusal(named, 'validation_failed'), 'content')).toContain('file');
    });

    test('multipart that is incomplete, or has no boundary, is rejected', async () => {
      const whole = '--b\r\ncontent-disposition: form-data; name="chat_id"\r\n\r\n1\r\n--b--\r\n';
      expectRefusal(await post(whole, 'multipart/form-data'), 'invalid_request');
      expectRefusal(await post(whole.slice(0, 30), 'multipart/form-data; boundary=b'), 'invalid_request');
      expectRefusal(await post('', 'multipart/form-data; boundary=b'), 'invalid_request');
    });

    test('JSON with the content type of a form is rejected with a hint', async () => {
      const error = expectRefusal(await form('{"chat_id": 1, "content": "x"}'), 'invalid_request');
      expect(error.message).toContain('application/json');
    });

    test('lists in a query have three spellings', async () => {
      const names = ['new_message', 'group_created'];
      const queries = [
        names.map((n) => `events[]=${n}`).join('&'),
        names.map((n) => `events=${n}`).join('&'),
        `events=${encodeURIComponent(JSON.stringify(names))}`,
      ];
      const answers = await Promise.all(
        queries.map((q) =>
          request(`${server().url}/api/events.php?action=list&limit=5&${q}`, {
            headers: { authorization: `Bearer ${ada.token}` },
          }),
        ),
      );
      for (const { body } of answers) expect(body).toEqual(answers[0]?.body ?? {});
      expect(answers[0]?.body.success).toBe(true);
    });
  });

  describe('invalid UTF-8 is rejected, and never replaced', () => {
    const latin = (text: string) => Buffer.from(text, 'latin1');
    const part = (name: string, value: string) =>
      `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

    test.each([
      ['JSON', 'application/json', latin('{"chat_id": 1, "content": "caf\xe9"}')],
      ['JSON, half a surrogate pair', 'application/json', latin('{"chat_id": 1, "content": "\xed\xa0\xbd"}')],
      ['JSON, cut within a character', 'application/json', latin('{"chat_id": 1, "content": "\xf0\x9f\x98"}')],
      ['a form', 'application/x-www-form-urlencoded', latin('chat_id=1&content=caf\xe9')],
      ['a form, escaped', 'application/x-www-form-urlencoded', latin('chat_id=1&content=caf%E9')],
      [
        'multipart',
        'multipart/form-data; boundary=b',
        latin(`${part('chat_id', '1')}${part('content', 'caf\xe9')}--b--\r\n`),
      ],
    ])('in %s', async (_, type, body) => {
      const reply = await post(body, type);
      expect({ stored: reply.body.message }).toEqual({ stored: undefined });
      expectRefusal(reply, 'invalid_request');
    });
  });

  describe('the type of the body', () => {
    test.each([
      'text/plain',
      'application/xml',
      'application/jsonp',
      'text/json',
      'json',
      'constructor',
      '__proto__',
      ',',
    ])('must be one that is read: %s', async (type) => {
      const error = expectRefusal(await post('{"chat_id": 1, "content": "x"}', type), 'unsupported_media_type');
      expect(error.message).toContain('application/json');
    });

    test('is required with a body', async () => {
      expectRefusal(await post(Buffer.from('{"chat_id": 1, "content": "x"}'), undefined), 'unsupported_media_type');
    });

    test('is optional without a body: the fields are then missing', async () => {
      expectRefusal(await post('', undefined), 'validation_failed');
    });
  });

  test('fields of a POST are not read from its URL', async () => {
    const error = expectRefusal(
      await post('{"content": "x"}', 'application/json', 'messages.php?action=send_message&chat_id=1'),
      'validation_failed',
    );
    expect(complaint(error, 'chat_id')).toContain('body');
  });

  describe('the text of a message', () => {
    const largest = ['a'.repeat(16_384), `${'€'.repeat(5_461)}a`, '😀'.repeat(4_096), `a${'é'.repeat(8_191)}b`];

    test('is at most 16,384 bytes of UTF-8, whatever the script', async () => {
      for (const content of largest) {
        expect(Buffer.byteLength(content)).toBe(16_384);
        const { message } = await ada.ok('messages.send_message', { chat_id: 1, content });
        expect(message.content).toBe(content);
        const { message_id } = message;
        for (const more of [`${content}a`, `a${content}`, `${[...content].slice(1).join('')}\u{1f600}a`]) {
          const sent = await ada.call('messages.send_message', { chat_id: 1, content: more });
          expect(complaint(expectRefusal(sent, 'validation_failed'), 'content')).toContain('16384 bytes');
          const edited = await ada.call('messages.edit_message', { message_id, content: more });
          expectRefusal(edited, 'validation_failed');
        }
      }
    });

    test.each(['', ' ', '\n', '\t \r\n', '\u00a0', '\u3000\u2003', '\ufeff', '\u2028'])(
      'is not blank: %j',
      async (content) => {
        const sent = await ada.call('messages.send_message', { chat_id: 1, content });
        expect(complaint(expectRefusal(sent, 'validation_failed'), 'content')).toBeDefined();
        const edited = await ada.call('messages.edit_message', { message_id: 1, content });
        expect(complaint(expectRefusal(edited, 'validation_failed'), 'content')).toBeDefined();
      },
    );

    test('keeps the spaces around it', async () => {
      const { message } = await ada.ok('messages.send_message', { chat_id: 1, content: '  \n x \n ' });
      expect(message.content).toBe('  \n x \n ');
    });
  });

  test('a rejected call changes nothing', async () => {
    const before = { tip: await eventTip(ada), chats: await ada.ok('chats.list', {}) };
    for (const row of posts) {
      expectRefusal(
        await callerOf(row, people).call(row.name, example(row, { nonsense: 'x' }) as never),
        'validation_failed',
      );
    }
    expect({ tip: await eventTip(ada), chats: await ada.ok('chats.list', {}) }).toEqual(before);
  });
});
