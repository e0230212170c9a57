import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readlinkSync, truncateSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { FileInfo } from '@parley/contract';
import { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { users } from '../support/people.ts';
import { serverFor, startServer, type TestServer } from '../support/server.ts';
import { freshPlace, onBothStorages, onS3, openPlace } from '../support/storages.ts';
import { signedIn } from '../support/visitor.ts';
import { expectRefusal, overSocket, type Reply, request } from '../support/wire.ts';

type Headed = Readonly<Record<string, string>>;

const bearer = ({ token }: Client): Headed => ({ authorization: `Bearer ${token}` });

async function upload(by: Client, content: BlobPart, name: string): Promise<FileInfo> {
  return (await by.ok('files.upload', { name, file: new File([content], 'sent') })).file;
}

const fetchAs = (by: Client, { url }: FileInfo, headers: Headed = {}, method = 'GET'): Promise<Response> =>
  fetch(url, { method, headers: { ...bearer(by), ...headers } });

const refusalFor = (by: Client, { url }: FileInfo): Promise<Reply> => request(url, { headers: bearer(by) });

/** Checks the headers of every response about a file. */
function expectGuarded(headers: Headers): void {
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*\bsandbox\b(?!.*allow-scripts)/);
  expect(headers.get('cache-control')).toBe('private, no-cache');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('accept-ranges')).toBe('bytes');
  expect(headers.get('x-request-id')).toMatch(/\S/);
}

const linkTo = async (by: Client, { file_id }: FileInfo): Promise<string> =>
  (await by.ok('files.get', { file_id })).link.url;

/** Returns the URL with some parameters changed or removed. */
function changed(address: string, fields: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.href;
}

onAnyEngine('a file is downloaded', (engine) => {
  const server = serverFor(engine);
  let root: Client;
  beforeAll(async () => {
    root = await server().user('root', { admin: true });
  });

  /** Ada sends a file into a group with Bob. Cleo is not in it. */
  async function sentFile() {
    const people = await users(server(), 'ada', 'bob', 'cleo');
    const { ada, bob } = people;
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'Group', participants: [bob.userId] })).group;
    const { message } = await ada.ok('messages.send_message', { chat_id, file: new File(['for the group'], 'a.txt') });
    if (!message.file) throw new Error('the message names no file');
    return { ...people, chat_id, message_id: message.message_id, file: message.file };
  }

  test('by its uploader, and by nobody else until it is sent', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const file = await upload(ada, 'only mine', 'mine.txt');
    expect(await (await fetchAs(ada, file)).text()).toBe('only mine');
    expectRefusal(await refusalFor(bob, file), 'not_found');
    const { chat_id } = (await ada.ok('messages.create_direct', { user_id: bob.userId })).chat;
    await ada.ok('messages.send_message', { chat_id, file_id: file.file_id });
    expect(await (await fetchAs(bob, file)).text()).toBe('only mine');
  });

  test('by those in the chat of its message; for others it does not exist', async () => {
    const { ada, bob, cleo, file } = await sentFile();
    for (const one of [ada, bob]) expect(await (await fetchAs(one, file)).text()).toBe('for the group');
    const hidden = expectRefusal(await refusalFor(cleo, file), 'not_found');
    const absent = expectRefusal(
      await refusalFor(cleo, { ...file, url: changed(file.url, { file_id: '999999' }) }),
      'not_found',
    );
    expect(hidden.message).toBe(absent.message);
    expect((await fetchAs(cleo, file, {}, 'HEAD')).status).toBe(404);
  });

  test('not by an administrator of the service who is not in the chat', async () => {
    const { file } = await sentFile();
    expectRefusal(await refusalFor(root, file), 'not_found');
  });

  test('not by those outside of a public channel, until they join', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const { chat_id } = (await ada.ok('messages.create_channel', { name: 'News' })).channel;
    const { message } = await ada.ok('messages.send_message', { chat_id, file: new File(['news'], 'news.txt') });
    const file = message.file as FileInfo;
    expectRefusal(await refusalFor(bob, file), 'not_found');
    await bob.ok('chats.join', { chat_id });
    expect(await (await fetchAs(bob, file)).text()).toBe('news');
  });

  test('not by those who left or were removed, until they are back', async () => {
    const { ada, bob, chat_id, file } = await sentFile();
    await bob.ok('chats.leave', { chat_id });
    expectRefusal(await refusalFor(bob, file), 'not_found');
    await ada.ok('chats.add_participants', { chat_id, participants: [bob.userId] });
    expect((await fetchAs(bob, file)).status).toBe(200);
    await ada.ok('chats.remove_participant', { chat_id, user_id: bob.userId });
    expectRefusal(await refusalFor(bob, file), 'not_found');
  });

  test('not after its message is deleted; another message keeps it for its own chat', async () => {
    const { ada, bob, cleo, message_id, file } = await sentFile();
    const { chat_id } = (await ada.ok('messages.create_direct', { user_id: cleo.userId })).chat;
    const again = await ada.ok('messages.send_message', { chat_id, file_id: file.file_id });
    await ada.ok('messages.delete_message', { message_id });
    expectRefusal(await refusalFor(bob, file), 'not_found');
    for (const one of [ada, cleo]) expect(await (await fetchAs(one, file)).text()).toBe('for the group');
    await ada.ok('messages.delete_message', { message_id: again.message.message_id });
    for (const one of [ada, bob, cleo]) expectRefusal(await refusalFor(one, file), 'not_found');
  });

  test('only with a token that has the scope files', async () => {
    const { ada, file } = await sentFile();
    const { access_token } = await ada.ok('tokens.create', { name: 'reads', scopes: ['messages:read'] });
    const reader = new Client(ada.url, access_token, ada.userId);
    expectRefusal(await refusalFor(reader, file), 'insufficient_scope');
    expectRefusal(await request(file.url), 'unauthorized');
  });

  describe('by a link', () => {
    test('without a token, as a whole and in ranges', async () => {
      const { bob, file } = await sentFile();
      const link = await linkTo(bob, file);
      expect(await (await fetch(link)).text()).toBe('for the group');
      expect(await (await fetch(link, { headers: { range: 'bytes=-5' } })).text()).toBe('group');
      const asked = await fetch(link, { method: 'HEAD' });
      expect(asked.status).toBe(200);
      expect(asked.headers.get('content-length')).toBe('13');
    });

    test('in the form /api/files/download too', async () => {
      const { bob, file } = await sentFile();
      const link = (await linkTo(bob, file)).replace('files.php?action=download&', 'files/download?');
      expect(link).toContain('/api/files/download?file_id=');
      expect(await (await fetch(link)).text()).toBe('for the group');
      expect((await fetch(link, { method: 'HEAD' })).headers.get('content-length')).toBe('13');
      expectRefusal(await request(changed(link, { user_id: '1' })), 'unauthorized');
      expectRefusal(await request(link.replace('files/download', 'files/get')), 'unauthorized');
    });

    test('that has exactly the signed parameters', async () => {
      const { ada, bob, cleo, file } = await sentFile();
      const other = await upload(ada, 'another', 'another.txt');
      const link = await linkTo(bob, file);
      const { expires, signature } = Object.fromEntries(new URL(link).searchParams) as Record<string, string>;
      const fromOther = new URL(await linkTo(ada, other)).searchParams.get('signature') ?? '';
      const turned = (signature?.startsWith('A') ? 'B' : 'A') + signature?.slice(1);
      const tampered: Record<string, string | undefined>[] = [
        { file_id: String(other.file_id) },
        { user_id: String(ada.userId) },
        { user_id: String(cleo.userId) },
        { user_id: undefined },
        { token_id: '1' },
        { token_id: undefined },
        { expires: String(Number(expires) + 1) },
        { expires: `${expires}.5` },
        { expires: undefined },
        { signature: turned },
        { signature: signature?.slice(0, -1) },
        { signature: '' },
        { signature: fromOther },
      ];
      for (const fields of tampered) expectRefusal(await request(changed(link, fields)), 'unauthorized');
      expectRefusal(await request(changed(link, { signature: undefined })), 'unauthorized');
      expect((await fetch(link)).status).toBe(200);
    });

    test('until the token that made it ends', async () => {
      const { bob, file } = await sentFile();
      const { token, access_token } = await bob.ok('tokens.create', { name: 'leaked' });
      const link = await linkTo(new Client(bob.url, access_token, bob.userId), file);
      const other = await linkTo(bob, file);
      expect((await fetch(link)).status).toBe(200);
      await bob.ok('tokens.revoke', { token_id: token.token_id });
      expectRefusal(await request(link), 'unauthorized');
      expect((await fetch(other)).status).toBe(200);
    });

    test('for nothing but the download', async () => {
      const { bob, file } = await sentFile();
      const link = await linkTo(bob, file);
      expectRefusal(await request(changed(link, { action: 'get' })), 'unauthorized');
      expectRefusal(await request(link.replace('files.php?action=download', 'users.php?action=me')), 'unauthorized');
    });

    test('not if a token is sent too: then the token decides', async () => {
      const { bob, cleo, file } = await sentFile();
      const link = await linkTo(bob, file);
      expectRefusal(await request(link, { headers: bearer(cleo) }), 'not_found');
      expectRefusal(await request(link, { headers: { authorization: 'Bearer nonsense' } }), 'unauthorized');
    });

    test('only while the user of the link may see the file', async () => {
      const { bob, chat_id, file } = await sentFile();
      const link = await linkTo(bob, file);
      await bob.ok('chats.leave', { chat_id });
      expectRefusal(await request(link), 'not_found');
    });

    test('not after the message is deleted', async () => {
      const { ada, bob, message_id, file } = await sentFile();
      const links = [await linkTo(bob, file), await linkTo(ada, file)];
      await ada.ok('messages.delete_message', { message_id });
      for (const link of links) expectRefusal(await request(link), 'not_found');
    });

    test('not after the user of the link is disabled', async () => {
      const { bob, file } = await sentFile();
      const link = await linkTo(bob, file);
      expect((await fetch(link)).status).toBe(200);
      await root.ok('users.disable', { user_id: bob.userId });
      expectRefusal(await request(link), 'unauthorized');
      expectRefusal(await refusalFor(bob, file), 'unauthorized');
    });
  });

  test('with a session cookie from our own pages only', async () => {
    const { bob, file } = await sentFile();
    const cookie = `parley_session=${(await signedIn(server(), bob)).session}`;
    const own = await fetch(file.url, { headers: { cookie, 'sec-fetch-site': 'same-origin' } });
    expect(await own.text()).toBe('for the group');
    const elsewhere: Headed[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { origin: 'https://elsewhere.example' },
      {},
    ];
    for (const headers of elsewhere) {
      expectRefusal(await request(file.url, { headers: { cookie, ...headers } }), 'unauthorized');
    }
  });
});

describe('a link', () => {
  let now = Date.now();
  const server = serverFor('sqlite', {}, { now: () => now });

  test('works for five minutes', async () => {
    const { ada } = await users(server(), 'ada');
    const file = await upload(ada, 'for a while', 'a.txt');
    const { link } = await ada.ok('files.get', { file_id: file.file_id });
    const end = Date.parse(link.expires_at);
    expect(end).toBeGreaterThan(now + 298_000);
    expect(end).toBeLessThanOrEqual(now + 300_000);
    now = end - 1;
    expect(await (await fetch(link.url)).text()).toBe('for a while');
    now = end;
    expectRefusal(await request(link.url), 'unauthorized');
  });

  test('cannot be extended', async () => {
    const { ada } = await users(server(), 'ada');
    const file = await upload(ada, 'for a while', 'a.txt');
    const link = await linkTo(ada, file);
    now += 600_000;
    const later = String(Math.floor(now / 1_000) + 60);
    expectRefusal(await request(changed(link, { expires: later })), 'unauthorized');
  });
});

describe('a download', () => {
  const server = serverFor('sqlite');
  const content = '0123456789';
  let ada: Client;
  let file: FileInfo;
  let etag: string;
  let modified: string;
  beforeAll(async () => {
    ada = await server().user('ada');
    file = await upload(ada, content, 'digits.txt');
    etag = `"${file.sha256}"`;
    modified = (await fetchAs(ada, file)).headers.get('last-modified') ?? '';
  });

  const seconds = (count: number) => new Date(Date.parse(modified) + count * 1_000).toUTCString();

  test('is the whole file, with its validators', async () => {
    const before = Math.floor(Date.now() / 1_000) * 1_000;
    const fresh = await upload(ada, content, 'digits.txt');
    const answer = await fetchAs(ada, fresh);
    expect(answer.status).toBe(200);
    expectGuarded(answer.headers);
    expect(answer.headers.get('content-length')).toBe('10');
    expect(answer.headers.get('content-range')).toBeNull();
    expect(answer.headers.get('etag')).toBe(`"${new Bun.CryptoHasher('sha256').update(content).digest('hex')}"`);
    const uploaded = answer.headers.get('last-modified') ?? '';
    expect(new Date(uploaded).toUTCString()).toBe(uploaded);
    expect(Date.parse(uploaded)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(uploaded)).toBeLessThanOrEqual(Date.now());
    expect(await answer.text()).toBe(content);
  });

  describe('of one range is that range', () => {
    const parts: [string, number, number][] = [
      ['bytes=0-0', 0, 1],
      ['bytes=2-4', 2, 5],
      ['bytes=0-9', 0, 10],
      ['bytes=0-', 0, 10],
      ['bytes=7-', 7, 10],
      ['bytes=9-', 9, 10],
      ['bytes=5-99', 5, 10],
      ['bytes=5-99999999999999999999999', 5, 10],
      ['bytes=-1', 9, 10],
      ['bytes=-10', 0, 10],
      ['bytes=-11', 0, 10],
      ['bytes=-99999999999999999999999', 0, 10],
      ['BYTES=2-4', 2, 5],
    ];
    test.each(parts)('%s', async (range, start, end) => {
      const answer = await fetchAs(ada, file, { range });
      expect(answer.status).toBe(206);
      expectGuarded(answer.headers);
      expect(answer.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/10`);
      expect(answer.headers.get('content-length')).toBe(String(end - start));
      expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      expect(answer.headers.get('etag')).toBe(etag);
      expect(await answer.text()).toBe(content.slice(start, end));
    });
  });

  test.each([
    'bytes=0-1,4-5',
    'bytes=0-1,99-',
    'bytes=0-1,',
    'bytes=5-2',
    'bytes=-',
    'bytes=',
    'bytes',
    'bytes=a-b',
    'bytes=0x1-2',
    'bytes=+1-2',
    'bytes=1.5-2',
    'bytes=1-2-3',
    'items=0-1',
    '0-1',
    '-',
  ])('is the whole file for a range that is not served: %s', async (range) => {
    const answer = await fetchAs(ada, file, { range });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-range')).toBeNull();
    expect(answer.headers.get('accept-ranges')).toBe('bytes');
    expect(await answer.text()).toBe(content);
  });

  test.each(['bytes=10-', 'bytes=10-20', 'bytes=-0', 'bytes=99999999999999999999999-'])(
    'has nothing of a range that is behind its end: %s',
    async (range) => {
      const answer = await fetchAs(ada, file, { range });
      expect(answer.status).toBe(416);
      expectGuarded(answer.headers);
      expect(answer.headers.get('content-range')).toBe('bytes */10');
      expect(answer.headers.get('content-type')).toBeNull();
      expect(await answer.text()).toBe('');
    },
  );

  describe('continues with a range', () => {
    const range = 'bytes=4-';
    test('of the same file, identified by its tag or its time', async () => {
      for (const known of [etag, modified]) {
        const answer = await fetchAs(ada, file, { range, 'if-range': known });
        expect([answer.status, await answer.text()]).toEqual([206, '456789']);
      }
    });

    test('but starts again for another file', async () => {
      for (const known of [
        '"other"',
        `W/${etag}`,
        file.sha256,
        `"other", ${etag}`,
        seconds(-1),
        seconds(1),
        'nonsense',
      ]) {
        const answer = await fetchAs(ada, file, { range, 'if-range': known });
        expect([known, answer.status, await answer.text()]).toEqual([known, 200, content]);
        const behind = await fetchAs(ada, file, { range: 'bytes=99-', 'if-range': known });
        expect([known, behind.status]).toEqual([known, 200]);
      }
    });
  });

  describe('under a condition', () => {
    const conditions: [string, number, () => Headed][] = [
      ['its tag is known', 304, () => ({ 'if-none-match': etag })],
      ['its tag is known as a weak one', 304, () => ({ 'if-none-match': `W/${etag}` })],
      ['its tag is among those known', 304, () => ({ 'if-none-match': `"other", ${etag}` })],
      ['anything is known', 304, () => ({ 'if-none-match': '*' })],
      ['another tag is known', 200, () => ({ 'if-none-match': '"other"' })],
      [
        'another tag is known, of the same time',
        200,
        () => ({ 'if-none-match': '"other"', 'if-modified-since': modified }),
      ],
      ['it is known as of its time', 304, () => ({ 'if-modified-since': modified })],
      ['it is known as of later', 304, () => ({ 'if-modified-since': seconds(60) })],
      ['something older is known', 200, () => ({ 'if-modified-since': seconds(-1) })],
      ['the time known is none', 200, () => ({ 'if-modified-since': 'yesterday' })],
      ['its tag is known, whatever part is asked for', 304, () => ({ 'if-none-match': etag, range: 'bytes=99-' })],
      ['it must be this one, and is', 200, () => ({ 'if-match': etag })],
      ['it must be one of several, and is', 200, () => ({ 'if-match': `"other", ${etag}` })],
      ['it must be there, and is', 200, () => ({ 'if-match': '*' })],
      ['it must be another', 412, () => ({ 'if-match': '"other"' })],
      ['it must be this one for certain', 412, () => ({ 'if-match': `W/${etag}` })],
      ['it must be another, of the same time', 412, () => ({ 'if-match': '"other"', 'if-unmodified-since': modified })],
      ['it must be another, and is known', 412, () => ({ 'if-match': '"other"', 'if-none-match': etag })],
      ['it must not be newer, and is not', 200, () => ({ 'if-unmodified-since': modified })],
      ['it must not be newer, and is', 412, () => ({ 'if-unmodified-since': seconds(-1) })],
      ['the time that it must not be newer than is none', 200, () => ({ 'if-unmodified-since': 'yesterday' })],
      ['it must be this one, and is known', 304, () => ({ 'if-match': etag, 'if-none-match': etag })],
      ['it must be another, whatever part is asked for', 412, () => ({ 'if-match': '"other"', range: 'bytes=0-1' })],
    ];
    test.each(conditions)('%s: %i', async (_, status, headers) => {
      for (const method of ['GET', 'HEAD']) {
        const answer = await fetchAs(ada, file, headers(), method);
        expect([method, answer.status]).toEqual([method, status]);
        expectGuarded(answer.headers);
        expect(answer.headers.get('etag')).toBe(etag);
        expect(answer.headers.get('last-modified')).toBe(modified);
        expect(await answer.text()).toBe(status === 200 && method === 'GET' ? content : '');
      }
    });

    test('is only for those who may see the file', async () => {
      const { bob } = await users(server(), 'bob');
      for (const headers of [
        { 'if-none-match': etag },
        { 'if-match': '"other"' },
        { range: 'bytes=99-' },
      ] as Headed[]) {
        expectRefusal(await request(file.url, { headers: { ...bearer(bob), ...headers } }), 'not_found');
      }
    });
  });

  describe('on the wire', () => {
    const raw = (method: string, headers: Headed = {}) => {
      const { host, pathname, search } = new URL(file.url);
      const all = { host, connection: 'close', ...bearer(ada), ...headers };
      const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
      return overSocket(file.url, [`${method} ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`]);
    };
    const parse = (answer: string) => {
      const end = answer.indexOf('\r\n\r\n');
      const [status = '', ...lines] = answer.slice(0, end).split('\r\n');
      return { status, lines: lines.map((line) => line.toLowerCase()), body: answer.slice(end + 4) };
    };
    const named = (lines: readonly string[], name: string) => lines.filter((line) => line.startsWith(`${name}:`));

    test('says its length, and each header once', async () => {
      for (const headers of [
        {},
        { range: 'bytes=2-4' },
        { range: 'bytes=0-' },
        { range: 'bytes = 2 - 4' },
        { range: 'bytes=0-1,4-5' },
      ] as Headed[]) {
        const { lines, body } = parse(await raw('GET', headers));
        expect(named(lines, 'content-length')).toEqual([`content-length: ${body.length}`]);
        expect(named(lines, 'transfer-encoding')).toEqual([]);
        const names = lines.map((line) => line.slice(0, line.indexOf(':')));
        expect(names).toEqual([...new Set(names)]);
      }
    });

    test('is only the head of the whole file for HEAD', async () => {
      for (const headers of [{}, { range: 'bytes=2-4' }, { range: 'bytes=99-' }] as Headed[]) {
        const { status, lines, body } = parse(await raw('HEAD', headers));
        expect(status).toBe('HTTP/1.1 200 OK');
        expect(named(lines, 'content-length')).toEqual(['content-length: 10']);
        expect(named(lines, 'transfer-encoding')).toEqual([]);
        expect(named(lines, 'content-type')).toEqual(['content-type: text/plain; charset=utf-8']);
        expect(body).toBe('');
      }
    });

    test('has no body where none is allowed', async () => {
      const bare: [number, Headed][] = [
        [304, { 'if-none-match': etag }],
        [412, { 'if-match': '"other"' }],
        [416, { range: 'bytes=99-' }],
      ];
      for (const [code, headers] of bare) {
        const { status, body } = parse(await raw('GET', headers));
        expect(status).toStartWith(`HTTP/1.1 ${code} `);
        expect(body).toBe('');
      }
    });
  });

  describe('of a name', () => {
    /** Parses the file name as RFC 6266 says. */
    const nameIn = (header: string): string | undefined => {
      const extended = /; filename\*=UTF-8''([^;]+)/.exec(header)?.[1];
      if (extended !== undefined) return decodeURIComponent(extended);
      const quoted = /; filename="((?:[^"\\]|\\.)*)"/.exec(header)?.[1];
      return quoted?.replace(/\\(.)/g, '$1') ?? /; filename=([^;"]+)/.exec(header)?.[1];
    };

    test.each([
      'plain.txt',
      'with spaces.txt',
      'تقرير نهائي.txt',
      '報告書.txt',
      'отчёт.txt',
      'naïve.txt',
      `${'é'.normalize('NFD')}.txt`,
      '👩‍👩‍👧 family 😀.txt',
      'a "quoted" name.txt',
      "it's.txt",
      '100%.txt',
      '%41%0d%0a.txt',
      "UTF-8''%41.txt",
      'a; filename=b.txt',
      'a, b = c*.txt',
      '<script>.txt',
      '.hidden',
      'ends with a dot.',
      'ÿ\u00a0.txt',
      '€'.repeat(85),
    ])('in any script keeps it: %s', async (name) => {
      const { headers } = await fetchAs(ada, await upload(ada, 'x', name));
      const header = headers.get('content-disposition') ?? '';
      expect(header).toMatch(/^[\x20-\x7e]+$/);
      expect(nameIn(header)).toBe(name);
    });
  });

  describe('is shown inline or saved', () => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
      'base64',
    );
    const kinds: [string, BlobPart, 'inline' | 'attachment', string][] = [
      ['a.png', png, 'inline', 'image/png'],
      ['a.gif', 'GIF89a\x01\x00\x01\x00\x00\x00\x00;', 'inline', 'image/gif'],
      ['a.jpg', Buffer.from('ffd8ffe000104a4649460001', 'hex'), 'inline', 'image/jpeg'],
      ['a.wav', 'RIFF\x24\x00\x00\x00WAVEfmt ', 'inline', 'audio/wav'],
      [
        'a.webm',
        Buffer.from('1a45dfa39f4286810142f7810142f2810442f381084282847765626d', 'hex'),
        'inline',
        'video/webm',
      ],
      ['a.txt', 'text', 'inline', 'text/plain; charset=utf-8'],
      ['a', 'text', 'inline', 'text/plain; charset=utf-8'],
      // The name does not decide the type.
      ['a.png', '<script>alert(1)</script>', 'inline', 'text/plain; charset=utf-8'],
      ['a.txt', png, 'inline', 'image/png'],
      ['a.html', '<script>alert(1)</script>', 'attachment', 'text/html; charset=utf-8'],
      ['a.htm', '<script>alert(1)</script>', 'attachment', 'text/html; charset=utf-8'],
      ['a.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'attachment', 'image/svg+xml'],
      // Otherwise a page could embed these.
      ['a.css', 'a {}', 'attachment', 'text/plain; charset=utf-8'],
      ['a.js', 'alert(1)', 'attachment', 'text/plain; charset=utf-8'],
      ['a.mjs', 'alert(1)', 'attachment', 'text/plain; charset=utf-8'],
      ['a.ts', 'alert(1)', 'attachment', 'text/plain; charset=utf-8'],
      ['a.csv', 'a,b', 'attachment', 'text/csv; charset=utf-8'],
      ['a.json', '{}', 'attachment', 'application/json'],
      ['a.pdf', '%PDF-1.7\n', 'attachment', 'application/pdf'],
      ['a.xml', '<?xml version="1.0"?><a/>', 'attachment', 'application/xml'],
      ['a.zip', 'PK\x03\x04\x14\x00\x00\x00', 'attachment', 'application/zip'],
      ['a.bin', Buffer.from([0, 1, 2, 3]), 'attachment', 'application/octet-stream'],
    ];
    test.each(kinds)('by its type: %s %#', async (name, bytes, way, type) => {
      const { headers } = await fetchAs(
        ada,
        await upload(ada, typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, name),
      );
      expect(headers.get('content-type')).toBe(type);
      expect(headers.get('content-disposition')).toBe(`${way}; filename=${name}`);
      expectGuarded(headers);
    });
  });

  test('can be read by pages of other sites, also in ranges', async () => {
    const origin = 'https://shop.example';
    const { headers } = await fetchAs(ada, file, { origin, range: 'bytes=0-1' });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    const exposed = headers.get('access-control-expose-headers')?.split(', ');
    for (const name of [
      'Content-Range',
      'Content-Disposition',
      'Accept-Ranges',
      'ETag',
      'Last-Modified',
      'X-Request-Id',
    ]) {
      expect(exposed).toContain(name);
    }
    const asked = await fetch(file.url, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'GET' },
    });
    const allowed = asked.headers.get('access-control-allow-headers')?.split(', ');
    for (const name of ['Authorization', 'Range', 'If-Range', 'If-None-Match', 'If-Modified-Since']) {
      expect(allowed).toContain(name);
    }
    for (const known of [{ 'if-none-match': etag }, { 'if-match': '"other"' }, { range: 'bytes=99-' }] as Headed[]) {
      const answer = await fetchAs(ada, file, { origin, ...known });
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    }
  });

  test('accepts GET and HEAD', async () => {
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const reply = await request(file.url, { method, headers: bearer(ada) });
      expectRefusal(reply, 'method_not_allowed');
      expect(reply.headers.get('allow')).toBe('GET, HEAD');
    }
  });
});

describe('the rate limit', () => {
  const server = serverFor('sqlite', { PARLEY_RATE_LIMIT: '2/5' });

  test('is in every response about a file', async () => {
    const { ada } = await users(server(), 'ada');
    const file = await upload(ada, 'text', 'a.txt');
    for (const headers of [{}, { 'if-none-match': `"${file.sha256}"` }, { range: 'bytes=99-' }] as Headed[]) {
      const answer = await fetchAs(ada, file, headers);
      expect(answer.headers.get('ratelimit-limit')).toMatch(/^\d+$/);
      expect(answer.headers.get('ratelimit-remaining')).toMatch(/^\d+$/);
      expect(answer.headers.get('ratelimit-reset')).toMatch(/^\d+$/);
    }
  });
});

/** Returns bytes that differ at every offset. */
function patterned(size: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(size / 4));
  for (let i = 0; i < words.length; i++) words[i] = Math.imul(i + 1, 2_654_435_761);
  return new Uint8Array(words.buffer, 0, size);
}

onS3('a file whose objects are gone', () => {
  test('sends its head before its bytes; a small file has a Content-Length', async () => {
    const place = await freshPlace('s3');
    const server = await startServer({ ...(await freshEnvironment('sqlite')), S3_URL: place });
    try {
      const ada = await server.user('ada');
      const file = await upload(ada, patterned(3 * 1024 * 1024), 'large.bin');
      const small = await upload(ada, 'small', 'small.txt');
      expect((await fetchAs(ada, small)).headers.get('content-length')).toBe('5');
      const { key } = (await server.engine.get<{ key: string }>('SELECT key FROM files WHERE file_id = $1', [
        file.file_id,
      ])) ?? { key: '' };
      await openPlace(place).remove(key);
      expectRefusal(await refusalFor(ada, file), 'unavailable');
    } finally {
      await server.stop();
    }
  });
});

onBothStorages('a large file', (storage) => {
  const size = 9 * 1024 * 1024 + 17;
  const bytes = patterned(size);
  let server: TestServer;
  let ada: Client;
  let file: FileInfo;
  beforeAll(async () => {
    const place = storage === 's3' ? { S3_URL: await freshPlace(storage) } : {};
    server = await startServer({ ...(await freshEnvironment('sqlite')), ...place });
    ada = await server.user('ada');
    file = await upload(ada, bytes, 'large.bin');
  });
  afterAll(() => server?.stop());

  const same = (some: Uint8Array, start: number, end: number) => Buffer.compare(some, bytes.subarray(start, end)) === 0;

  test('is returned unchanged', async () => {
    const answer = await fetchAs(ada, file);
    expect(answer.status).toBe(200);
    expect(same(await answer.bytes(), 0, size)).toBe(true);
  });

  test('is returned in any ranges', async () => {
    const mebi = 1024 * 1024;
    const marks = [0, 1, 2 * mebi - 1, 2 * mebi, 4 * mebi - 1, 4 * mebi, 4 * mebi + 1, size - 1];
    for (const start of marks) {
      for (const end of [start + 1, Math.min(size, start + 3 * mebi), size]) {
        const answer = await fetchAs(ada, file, { range: `bytes=${start}-${end - 1}` });
        expect([answer.status, answer.headers.get('content-range')]).toEqual([
          206,
          `bytes ${start}-${end - 1}/${size}`,
        ]);
        expect(same(await answer.bytes(), start, end)).toBe(true);
      }
    }
  });

  test('has its length in the response to HEAD', async () => {
    const answer = await fetchAs(ada, file, {}, 'HEAD');
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, String(size)]);
  });

  test('is resumed after an interruption', async () => {
    const first = await fetchAs(ada, file);
    const reader = first.body?.getReader();
    const parts: Uint8Array[] = [];
    let had = 0;
    while (had < 1_000_000) {
      const { value } = (await reader?.read()) ?? {};
      if (!value) throw new Error('it ended too early');
      parts.push(value);
      had += value.length;
    }
    await reader?.cancel();
    const known = first.headers.get('etag') ?? '';
    const rest = await fetchAs(ada, file, { range: `bytes=${had}-`, 'if-range': known });
    expect(rest.status).toBe(206);
    parts.push(await rest.bytes());
    expect(same(Buffer.concat(parts), 0, size)).toBe(true);
  });
});

describe('a file whose bytes are missing', () => {
  const server = serverFor('sqlite');

  /** Returns the path of the only stored file of a new user. */
  async function kept(): Promise<{ ada: Client; file: FileInfo; path: string }> {
    const { ada } = await users(server(), 'ada');
    const file = await upload(ada, 'a file of some length', 'a.txt');
    const row = await server().engine.get<{ key: string }>('SELECT key FROM files WHERE file_id = $1', [file.file_id]);
    const key = row?.key ?? '';
    return { ada, file, path: join(server().env.PARLEY_DATA ?? '', 'files', key.slice(0, 2), key) };
  }

  test('is an internal error, as a whole and in ranges, and does not reveal its path', async () => {
    const { ada, file, path } = await kept();
    unlinkSync(path);
    for (const headers of [{}, { range: 'bytes=2-4' }] as Headed[]) {
      const reply = await request(file.url, { headers: { ...bearer(ada), ...headers } });
      expect(JSON.stringify(expectRefusal(reply, 'internal'))).not.toContain('files/');
    }
  });

  test('is an internal error too if only some bytes are missing', async () => {
    const { ada, file, path } = await kept();
    truncateSync(path, 10);
    expectRefusal(await refusalFor(ada, file), 'internal');
    expect(await (await fetchAs(ada, file, { range: 'bytes=0-5' })).text()).toBe('a file');
  });
});

describe('a client that disconnects midway', () => {
  const server = serverFor('sqlite');
  const openFiles = '/proc/self/fd';

  test.skipIf(!existsSync(openFiles))('leaves no file open', async () => {
    const { ada } = await users(server(), 'ada');
    const file = await upload(ada, patterned(32 * 1024 * 1024), 'large.bin');
    const folder = join(server().env.PARLEY_DATA ?? '', 'files');
    const held = () =>
      readdirSync(openFiles)
        .map((name) => {
          try {
            return readlinkSync(join(openFiles, name));
          } catch {
            return '';
          }
        })
        .filter((path) => path.startsWith(folder)).length;

    const hangUp = new AbortController();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => fetch(file.url, { headers: bearer(ada), signal: hangUp.signal })),
    );
    await eventually('the file is being sent', async () => held() > 0 || undefined);
    hangUp.abort();
    await eventually('nobody has it open any more', async () => held() === 0 || undefined);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await fetchAs(ada, file, { range: 'bytes=0-9' })).status).toBe(206);
  });
});
