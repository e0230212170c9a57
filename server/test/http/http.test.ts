import { beforeAll, describe, expect, test } from 'bun:test';
import { errors, isFile, listOperations, type NamedOperation, scopeNames } from '@parley/contract';
import { type Client, type UrlForm, urlFormNames, urlForms } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { buildExamples, type People } from '../support/examples.ts';
import { serverFor } from '../support/server.ts';
import { expectRefusal, request, statuses } from '../support/wire.ts';

const rows = listOperations();

test('the codes of the contract and their statuses are those of the design', () => {
  const given: Record<string, number> = Object.fromEntries(Object.entries(errors).map(([code, e]) => [code, e.status]));
  expect(given).toEqual(statuses);
});

onAnyEngine('over HTTP', (engine) => {
  const server = serverFor(engine);
  let people: People;
  beforeAll(async () => {
    people = await buildExamples(server());
  });

  /** A call of a row's example by hand, with whatever headers. */
  const call = (
    row: NamedOperation,
    headers: Record<string, string>,
    method: string = row.method,
    form: UrlForm = 'resource.php?action=',
  ) => {
    const input = row.example.input as object;
    const caller = people.ada.with(form);
    return row.method === 'GET'
      ? request(caller.urlOf(row, input).href, { method, headers })
      : request(caller.urlOf(row).href, {
          method,
          headers: { 'content-type': 'application/json', ...headers },
          ...(method !== 'GET' && { body: JSON.stringify(input) }),
        });
  };
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const row = (name: string) => {
    const found = rows.find((r) => r.name === name);
    if (!found) throw new Error(`no row ${name}`);
    return found;
  };
  const me = row('users.me');

  describe('finding the operation', () => {
    test.each(urlFormNames)('every action rejects other methods, and Allow names its own, as %s', async (form) => {
      for (const one of rows) {
        const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((method) => method !== one.method);
        for (const method of others) {
          const reply = await call(one, bearer(people.ada.token), method, form);
          const { message } = expectRefusal(reply, 'method_not_allowed');
          expect(reply.headers.get('allow')).toBe(isFile(one.output) ? 'GET, HEAD' : one.method);
          expect(message).toBe(`${urlForms[form](one)} takes ${one.method}.`);
        }
      }
    });

    test.each([
      ['messages.php?action=send_mesage', 'messages.php has no such action. Did you mean send_message? There are: '],
      ['messages/send_mesage', 'messages has no such action. Did you mean send_message? There are: '],
      ['messages/send_message/', 'messages has no such action. Did you mean send_message? There are: '],
      ['chats/lits?scope=mine', 'chats has no such action. Did you mean list? There are: '],
    ])('a misspelt action is rejected with a suggestion: %s', async (path, message) => {
      const reply = await request(`${server().url}/api/${path}`, { method: 'POST' });
      expect(expectRefusal(reply, 'unknown_action').message).toStartWith(message);
    });

    test.each(['messages.php?action=fetch_everything', 'messages/fetch_everything', 'users/xy', 'users.php?action=xy'])(
      'an action that is near to no other is rejected without a suggestion: %s',
      async (path) => {
        const reply = await request(`${server().url}/api/${path}`, { method: 'POST' });
        expect(expectRefusal(reply, 'unknown_action').message).toMatch(/ has no such action\. There are: /);
      },
    );

    test.each([
      ...['messages.php', 'messages.php?action=', 'messages.php?chat_id=1', 'messages.php?Action=send_message'],
      ...['messages', 'messages/', 'messages?action=', 'messages/?chat_id=1'],
    ])('a missing action is refused with the list of actions: %s', async (path) => {
      const reply = await request(`${server().url}/api/${path}`, { headers: bearer(people.ada.token) });
      const { message } = expectRefusal(reply, 'unknown_action');
      expect(message).toStartWith(
        `Name an action: messages${path.includes('.php') ? '.php?action=' : '/'}… with one of `,
      );
      for (const { action } of rows.filter((r) => r.resource === 'messages')) expect(message).toContain(action);
    });

    test.each([
      ['messages?action=get_messages', 'unknown_action', 'get_messages'],
      ['messages/?chat_id=1&action=get_messages', 'unknown_action', 'get_messages'],
      ['messages.php/send_message', 'not_found', 'send_message'],
      ['messages.php/send_message?action=get_messages', 'not_found', 'send_message'],
      ['messages.php/?action=get_messages', 'not_found', 'get_messages'],
    ] as const)('a URL that mixes both forms is refused with the right ones: %s', async (path, code, action) => {
      const reply = await request(`${server().url}/api/${path}`, { headers: bearer(people.ada.token) });
      const { message } = expectRefusal(reply, code);
      expect(message).toEndWith(` Use messages/${action} or messages.php?action=${action}.`);
    });

    test.each(['constructor', '__proto__', 'toString', 'send_message.php', 'SEND_MESSAGE', '../tokens', '%00', '💬'])(
      'an action that is a trick is an unknown action: %s',
      async (action) => {
        for (const start of ['messages.php?action=', 'messages/']) {
          const address = `${server().url}/api/${start}${encodeURIComponent(action)}`;
          expectRefusal(await request(address, { headers: bearer(people.ada.token) }), 'unknown_action');
        }
      },
    );

    test.each([
      ['api/nonsense.php?action=list', 'There is no such resource. There are: messages.php, chats.php, '],
      ['api/nonsense/list', 'There is no such resource. There are: messages, chats, '],
      ['api/mesages/send_message', 'There is no such resource. Did you mean messages? There are: messages, chats, '],
      ['api/mesages.php', 'There is no such resource. Did you mean messages.php? There are: messages.php, chats.php, '],
      ['api/constructor.php', 'There is no such resource. '],
      ['api/__proto__/toString', 'There is no such resource. '],
      ['api//send_message', 'There is no such resource. '],
      ['api/messages.php/extra', 'There is no such resource. '],
      ['api/v2/messages.php', 'There is no such resource. '],
      ['api', 'There is nothing at this URL. '],
      ['api/', 'There is nothing at this URL. '],
    ])('an unknown resource is not found: %s', async (path, message) => {
      const reply = await request(`${server().url}/${path}`, { headers: bearer(people.ada.token) });
      expect(expectRefusal(reply, 'not_found').message).toStartWith(message);
    });

    test.each(['nonsense', 'favicon.ico', '%2e%2e/%2e%2e/etc/passwd'])(
      'an address outside the API is not found, in the same shape: %s',
      async (path) => {
        expectRefusal(await request(`${server().url}/${path}`), 'not_found');
      },
    );
  });

  describe('the query of /api/<resource>/<action>', () => {
    const complaintOf = async (path: string, init: RequestInit = {}) => {
      const reply = await request(`${server().url}/api/${path}`, { headers: bearer(people.ada.token), ...init });
      return expectRefusal(reply, 'validation_failed').details[0];
    };

    test('has no action', async () => {
      const message = 'is not a field of this operation; use users/me or users.php?action=me';
      expect(await complaintOf('users/me?action=me')).toEqual({ field: 'action', message });
      expect(await complaintOf('users/me?action=search')).toEqual({ field: 'action', message });
    });

    test('belongs to a GET', async () => {
      const found = await complaintOf('chats/join?chat_id=4', { method: 'POST' });
      expect(found).toEqual({ field: 'chat_id', message: 'belongs in the body of a POST, not in its URL' });
    });

    test('is percent-encoded UTF-8', async () => {
      const headers = bearer(people.ada.token);
      expectRefusal(await request(`${server().url}/api/chats/list?query=%ff`, { headers }), 'invalid_request');
    });
  });

  describe('the access token', () => {
    const refused: [string, Record<string, string>][] = [
      ['none', {}],
      ['an empty header', { authorization: '' }],
      ['a scheme alone', { authorization: 'Bearer' }],
      ['another scheme', { authorization: 'Basic YWRhOmFkYQ==' }],
      ['a token without a scheme', { authorization: 'pat_abc' }],
      ['an unknown token', { authorization: `Bearer pat_${'A'.repeat(43)}` }],
      ['two tokens', { authorization: 'Bearer pat_a pat_b' }],
      ['a token of 6,000 characters', { authorization: `Bearer ${'x'.repeat(6_000)}` }],
      ['a letter outside ASCII', { authorization: 'Bearer pät' }],
      ['a cookie', { cookie: 'session=pat_abc' }],
    ];
    test.each(refused)('is rejected if there is %s', async (_, headers) => {
      const reply = await call(me, headers);
      expectRefusal(reply, 'unauthorized');
      expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer /);
    });

    test.each(urlFormNames)('is required by every operation, as %s', async (form) => {
      for (const one of rows) {
        const reply = await call(one, {}, one.method, form);
        expectRefusal(reply, 'unauthorized');
        expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer /);
      }
    });

    test('is case-sensitive, and its scheme is not', async () => {
      const { token } = people.bob;
      expect((await call(me, { authorization: `bearer ${token}` })).status).toBe(200);
      expect((await call(me, { authorization: `BEARER  ${token}` })).status).toBe(200);
      expectRefusal(await call(me, bearer(token.toUpperCase())), 'unauthorized');
      expectRefusal(await call(me, bearer(`${token}x`)), 'unauthorized');
      expectRefusal(await call(me, bearer(token.slice(0, -1))), 'unauthorized');
    });

    test.each(['access_token', 'token', 'authorization', 'api_key'])(
      'is no credential in the query, as %s',
      async (name) => {
        const address = `${server().url}/api/users.php?action=me&${name}=${people.ada.token}`;
        const error = expectRefusal(await request(address), 'unauthorized');
        expect(JSON.stringify(error)).not.toContain(people.ada.token);
        const both = await request(address, { headers: bearer(people.ada.token) });
        expect(expectRefusal(both, 'validation_failed').details[0]?.field).toBe(name);
      },
    );

    test('stops working the moment it is revoked, also if it is cached', async () => {
      const { token, access_token } = await people.ada.ok('tokens.create', { name: 'short-lived' });
      for (let i = 0; i < 3; i++) expect((await call(me, bearer(access_token))).status).toBe(200);
      await people.ada.ok('tokens.revoke', { token_id: token.token_id });
      expectRefusal(await call(me, bearer(access_token)), 'unauthorized');
    });
  });

  describe('scopes', () => {
    test.each(urlFormNames)('every row rejects a token without its scope, as %s', async (form) => {
      for (const { one, scope } of rows.flatMap((one) => one.scopes.map((scope) => ({ one, scope })))) {
        const token = await server().token(
          'ada',
          scopeNames.filter((s) => s !== scope),
        );
        const reply = await call(one, bearer(token), one.method, form);
        expect(expectRefusal(reply, 'insufficient_scope').message).toContain(scope);
        expect(reply.headers.get('www-authenticate')).toContain('error="insufficient_scope"');
      }
    });

    test('the scopes of a row are sufficient for it', async () => {
      for (const one of rows.filter((row) => !row.rawFile && !row.inBrowser)) {
        const token = await server().token('ada', one.scopes.length > 0 ? one.scopes : ['files']);
        const client: Client = Object.assign(Object.create(people.ada), { token });
        const reply = await client.call(one.name, { nonsense: 'x' } as never);
        expectRefusal(reply, 'validation_failed');
      }
    });

    test('scopes are checked before the input', async () => {
      const token = await server().token('bob', ['messages:read']);
      const address = `${server().url}/api/messages.php?action=send_message`;
      const reply = await request(address, { method: 'POST', headers: bearer(token), body: '{{{' });
      expectRefusal(reply, 'insufficient_scope');
    });
  });

  describe('responses', () => {
    test('begin with success, and are never cached', async () => {
      const reply = await call(row('chats.get'), bearer(people.ada.token));
      expect(Object.keys(reply.body)[0]).toBe('success');
      expect(reply.body.success).toBe(true);
      expect(reply.headers.get('cache-control')).toBe('no-store');
      expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    });

    test('end with one newline, which Content-Length counts', async () => {
      const { url } = server();
      const ada = { headers: bearer(people.ada.token) };
      const json = { ...ada.headers, 'content-type': 'application/json', 'idempotency-key': 'newline' };
      const send = { method: 'POST', headers: json, body: JSON.stringify({ chat_id: 1, content: 'one line\n' }) };
      const calls: [string, RequestInit, status: number][] = [
        ['/api/users.php?action=me', ada, 200],
        ['/api/messages.php?action=get_messages&chat_id=1', ada, 200],
        ['/api/messages.php?action=send_message', send, 200],
        ['/api/messages.php?action=send_message', send, 200],
        ['/api/events.php?action=list', ada, 200],
        ['/api/users.php?action=me', {}, 401],
        ['/api/nothing', ada, 404],
        ['/api/uploads', { method: 'POST', headers: { 'tus-resumable': '1.0.0' } }, 401],
        ['/api/openapi.json', { headers: { 'accept-encoding': 'identity' } }, 200],
        ['/.well-known/oauth-authorization-server', {}, 200],
        ['/oauth/token', { method: 'POST', body: new URLSearchParams({ grant_type: 'x' }) }, 401],
      ];
      const bodies: string[] = [];
      for (const [path, init, status] of calls) {
        const response = await fetch(`${url}${path}`, init);
        const bytes = await response.bytes();
        const text = new TextDecoder().decode(bytes);
        expect([path, response.status, text.slice(-2)]).toEqual([path, status, '}\n']);
        expect(response.headers.get('content-length')).toBe(String(bytes.length));
        expect(JSON.parse(text)).toBeObject();
        bodies.push(text);
      }
      // The replay of an idempotent response has the same bytes.
      expect(bodies[3]).toBe(bodies[2] ?? '');
    });

    test('each have their own request id', async () => {
      const replies = await Promise.all(Array.from({ length: 50 }, () => call(me, bearer(people.ada.token))));
      expect(new Set(replies.map((r) => r.headers.get('x-request-id'))).size).toBe(50);
    });

    test('ignore a request id of the client', async () => {
      const reply = await call(me, { 'x-request-id': 'mine\tor not' });
      expect(expectRefusal(reply, 'unauthorized').request_id).not.toContain('mine');
    });
  });

  describe('CORS', () => {
    const preflight = (path: string) =>
      fetch(`${server().url}${path}`, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://shop.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,content-type,idempotency-key',
        },
      });

    test.each(['/api/messages.php?action=send_message', '/api/messages/send_message'])(
      'a browser may call %s from anywhere, with a token and an Idempotency-Key',
      async (path) => {
        const { status, headers } = await preflight(path);
        expect(status).toBe(204);
        expect(headers.get('access-control-allow-origin')).toBe('*');
        expect(headers.get('access-control-allow-methods')).toMatch(/GET.*POST/);
        const allowed = headers.get('access-control-allow-headers')?.toLowerCase() ?? '';
        for (const name of ['authorization', 'content-type', 'idempotency-key']) expect(allowed).toContain(name);
      },
    );

    test('a browser can read the response and its headers, never with credentials', async () => {
      const origin = { origin: 'https://shop.example', cookie: 'a=b' };
      const good = await call(me, { ...bearer(people.ada.token), ...origin });
      const bad = await call(me, origin);
      const asked = await preflight('/api/users.php?action=me');
      for (const { headers } of [good, bad, asked]) {
        expect(headers.get('access-control-allow-origin')).toBe('*');
        expect(headers.get('access-control-allow-credentials')).toBeNull();
      }
      const shown = good.headers.get('access-control-expose-headers')?.toLowerCase() ?? '';
      for (const name of ['x-request-id', 'retry-after', 'ratelimit-remaining', 'www-authenticate']) {
        expect(shown).toContain(name);
      }
    });
  });
});
