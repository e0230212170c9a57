import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { UserId } from '@parley/contract';
import { openSession } from '../../auth/sessions.ts';
import { processRuntime } from '../../compose.ts';
import { removeEnded } from '../../files/removal.ts';
import { openDisk } from '../../files/storage/disk.ts';
import { Uploads } from '../../files/uploads.ts';
import { cookieNames } from '../../http/cookies.ts';
import { temporaryFolder } from '../support/cleanup.ts';
import { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { kept, sha256, someBytes } from '../support/files.ts';
import { accessOf } from '../support/oauth.ts';
import { users } from '../support/people.ts';
import { noQuotas } from '../support/quotas.ts';
import { serverFor, startServer, type TestServer } from '../support/server.ts';
import {
  announce,
  append,
  appendType,
  ask,
  download,
  fileIdIn,
  fileStorage,
  named,
  offsetOf,
  type Path,
  Scissors,
  SlowPatch,
  statusOf,
  upload,
} from '../support/tus.ts';
import { complaint, expectRefusal } from '../support/wire.ts';

const megabyte = 1024 * 1024;
const bytes = someBytes(5 * megabyte + 123);
const half = Math.floor(bytes.length / 2);

const keyIn = (path: Path): string => path.split('/').at(-1) ?? '';

/** Returns the row of an upload. */
async function rowOf(server: TestServer, path: Path) {
  const sql = 'SELECT file_id, sha256, size, expires_at FROM files WHERE key = $1';
  return server.engine.get<{ file_id: number; sha256: string | null; size: number; expires_at: number }>(sql, [
    keyIn(path),
  ]);
}

/** Waits until more bytes are on disk. A request to the server would interrupt the upload. */
const arrived = ({ env }: TestServer, path: Path, before = 0) =>
  eventually('bytes have arrived', async () => {
    const size = await openDisk(env.PARLEY_DATA ?? '').sizeOf(keyIn(path));
    return size > before ? size : undefined;
  });

/** Returns the row of the only upload of a user. */
async function arrivedOf(server: TestServer, { userId }: Client, before: number): Promise<number> {
  const row = await server.engine.get<{ key: string }>('SELECT key FROM files WHERE user_id = $1', [userId]);
  return arrived(server, row?.key ?? '', before);
}

onAnyEngine('a resumable upload', (engine) => {
  const server = serverFor(engine);

  test('becomes a file that can be sent, found and downloaded, with identical bytes', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const { fileId, path } = await upload(ada, bytes, { metadata: { filename: 'Übersicht 数.bin' } });
    const { file } = await ada.ok('files.get', { file_id: fileId });
    const facts = { file_id: fileId, name: 'Übersicht 数.bin', size: bytes.length, sha256: sha256(bytes) };
    expect(file).toMatchObject({ ...facts, mime_type: 'application/octet-stream' });
    expect(path).toMatch(/^\/api\/uploads\/[\w-]{16,}$/);

    const { chat } = await ada.ok('messages.create_direct', { user_id: bob.userId });
    expect(await bob.refused('messages.send_message', { chat_id: chat.chat_id, file_id: fileId })).toBe(
      'validation_failed',
    );
    const { message } = await ada.ok('messages.send_message', { chat_id: chat.chat_id, file_id: fileId });
    expect(message.file).toMatchObject(facts);
    expect(sha256(await download(bob, fileId))).toBe(sha256(bytes));
  });

  test('arrives in chunks, or with its creation', async () => {
    const { ada } = await users(server(), 'ada');
    const inChunks = await upload(ada, bytes, { chunkSize: megabyte });
    expect(inChunks.requests).toEqual(['POST', ...[0, 1, 2, 3, 4, 5].map((n) => `PATCH ${n * megabyte}`)]);
    const atOnce = await upload(ada, bytes, { uploadDataDuringCreation: true });
    expect(atOnce.requests).toEqual(['POST']);
    const both = await upload(ada, bytes, { uploadDataDuringCreation: true, chunkSize: 4 * megabyte });
    expect(both.requests).toEqual(['POST', `PATCH ${4 * megabyte}`]);
    for (const { fileId } of [inChunks, atOnce, both]) {
      expect(sha256(await download(ada, fileId))).toBe(sha256(bytes));
    }
  });

  test('returns the file with the last byte, and to later requests', async () => {
    const { ada } = await users(server(), 'ada');
    const path = await announce(ada, 10);
    const first = await append(ada, path, 0, 'hello');
    expect([first.status, first.headers.get('upload-offset'), fileIdIn(first)]).toEqual([204, '5', 0]);
    expect(first.headers.get('upload-expires')).not.toBeNull();
    const last = await append(ada, path, 5, 'world');
    const { file_id = 0 } = (await rowOf(server(), path)) ?? {};
    expect([last.status, last.headers.get('upload-offset'), fileIdIn(last)]).toEqual([204, '10', file_id]);
    expect(last.headers.get('upload-expires')).toBeNull();
    const asked = await ask(ada, 'HEAD', path);
    expect([asked.status, asked.headers.get('upload-offset'), fileIdIn(asked)]).toEqual([200, '10', file_id]);
    expect(asked.headers.get('upload-length')).toBe('10');
    expect(asked.headers.get('upload-metadata')).toBe(named('file.bin'));
    expect(asked.headers.get('cache-control')).toBe('no-store');

    const nothingMore = await append(ada, path, 10, '');
    expect([nothingMore.status, fileIdIn(nothingMore)]).toEqual([204, file_id]);
    expectRefusal(await append(ada, path, 10, 'more'), 'payload_too_large');
    expect(new TextDecoder().decode(await download(ada, file_id))).toBe('helloworld');
  });

  describe.each([
    ['in one go', Number.POSITIVE_INFINITY],
    ['in chunks', 2 * megabyte],
  ])('%s', (_, chunkSize) => {
    test('continues by itself after broken connections', async () => {
      const { ada } = await users(server(), 'ada');
      let kept = 0;
      const scissors = await Scissors.before(ada.url, 3, 1.4 * megabyte, async () => {
        kept = await arrivedOf(server(), ada, kept);
      });
      const through = new Client(scissors.url, ada.token, ada.userId);
      const { fileId, requests } = await upload(through, bytes, { chunkSize, retryDelays: [0, 10, 20, 40] });
      expect(scissors.cutsLeft).toBe(0);
      expect(requests.filter((request) => request === 'PATCH 0')).toHaveLength(1);
      expect(requests.filter((request) => request === 'HEAD')).toHaveLength(3);
      expect(sha256(await download(ada, fileId))).toBe(sha256(bytes));
      scissors.stop();
    });

    test('is found again by a client that was restarted', async () => {
      const { ada } = await users(server(), 'ada');
      const scissors = await Scissors.before(ada.url, 1, half, () => arrivedOf(server(), ada, 0));
      const through = new Client(scissors.url, ada.token, ada.userId);
      const urlStorage = fileStorage(join(temporaryFolder(), 'uploads.json'));
      const options = { chunkSize, urlStorage, storeFingerprintForResuming: true };
      expect(await upload(through, bytes, options).catch(() => 'broke off')).toBe('broke off');
      const { fileId, requests } = await upload(through, bytes, options);
      expect(requests[0]).toBe('HEAD');
      expect(requests[1]).toMatch(/^PATCH [1-9]/);
      expect(sha256(await download(ada, fileId))).toBe(sha256(bytes));
      scissors.stop();
    });
  });

  test('is taken over from a dead connection', async () => {
    const { ada } = await users(server(), 'ada');
    const path = await announce(ada, bytes.length);
    const dead = new SlowPatch(ada, path, 0, bytes.length);
    await dead.write(bytes.subarray(0, half));
    await arrived(server(), path);
    // Bytes may still be in transit: the response has the stored offset.
    const offset = await offsetOf(ada, path);
    expect(await dead.answer).toMatch(new RegExp(`^HTTP/1.1 204 .*upload-offset: ${offset}\r\n`, 'is'));
    const { fileId, requests } = await upload(ada, bytes, { uploadUrl: `${ada.url}${path}` });
    expect(requests).toEqual(['HEAD', `PATCH ${offset}`]);
    expect(sha256(await download(ada, fileId))).toBe(sha256(bytes));
  });

  test('keeps the bytes of a broken connection, and is invisible until it is complete', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const path = await announce(ada, bytes.length);
    const broken = new SlowPatch(ada, path, 0, bytes.length);
    await broken.write(bytes.subarray(0, half));
    await arrived(server(), path);
    broken.hangUp();
    const offset = await offsetOf(ada, path);
    expect(offset).toBeGreaterThan(0);
    expect(offset).toBeLessThanOrEqual(half);

    const { file_id = 0, sha256: found } = (await rowOf(server(), path)) ?? {};
    expect(found).toBeNull();
    const { chat } = await ada.ok('messages.create_direct', { user_id: bob.userId });
    for (const by of [ada, bob]) {
      expect(await by.refused('files.get', { file_id })).toBe('not_found');
      expect(await by.refused('files.download', { file_id })).toBe('not_found');
      expect(await by.refused('messages.send_message', { chat_id: chat.chat_id, file_id })).toBe('validation_failed');
    }
    const last = await append(ada, path, offset, bytes.subarray(offset));
    expect(fileIdIn(last)).toBe(file_id);
    expect((await ada.ok('files.get', { file_id })).file.sha256).toBe(sha256(bytes));
  });

  test('is completed by the next request if the server died with all bytes stored', async () => {
    const { ada } = await users(server(), 'ada');
    const { env, engine: database } = server();
    const { now, random } = processRuntime;
    const blobs = openDisk(env.PARLEY_DATA ?? '');
    const uploads = new Uploads({
      engine: database,
      blobs,
      now,
      random,
      fileBytes: 1e9,
      keptMs: 1e7,
      quotas: noQuotas,
      requireRoom: () => {},
    });
    const begin = async () => {
      const row = await uploads.announce(ada.userId as UserId, 'file.bin', bytes.length);
      const incoming = await uploads.open(row, 0, uploads.enter(row.user_id));
      await incoming.write(bytes.slice());
      await incoming.close();
      return { ...row, path: `/api/uploads/${row.key}` };
    };
    for (const alreadySealed of [false, true]) {
      const row = await begin();
      if (alreadySealed) await uploads.seal(row, bytes.length);
      const asked = await ask(ada, 'HEAD', row.path);
      expect([Number(asked.headers.get('upload-offset')), fileIdIn(asked)]).toEqual([bytes.length, row.file_id]);
      expect(sha256(await download(ada, row.file_id))).toBe(sha256(bytes));
    }
    const row = await begin();
    expect(fileIdIn(await append(ada, row.path, bytes.length, ''))).toBe(row.file_id);
    expect((await ada.ok('files.get', { file_id: row.file_id })).file.sha256).toBe(sha256(bytes));
  });

  test('accepts no bytes of another user, and is invisible to others', async () => {
    const { ada, eve } = await users(server(), 'ada', 'eve');
    const path = await announce(ada, bytes.length);
    const owner = new SlowPatch(ada, path, 0, bytes.length);
    await owner.write(bytes.subarray(0, half));
    const absent = `/api/uploads/${'A'.repeat(24)}`;
    const [onHers, onNone] = await Promise.all(
      [path, absent].map(async (where) => [
        expectRefusal(await append(eve, where, 0, 'mine'), 'not_found').message,
        expectRefusal(await ask(eve, 'DELETE', where), 'not_found').message,
        (await ask(eve, 'HEAD', where)).status,
      ]),
    );
    expect(onHers).toEqual(onNone ?? []);
    // Her request was not interrupted.
    await owner.write(bytes.subarray(half));
    const { file_id } = (await rowOf(server(), path)) ?? {};
    expect(await owner.answer).toMatch(new RegExp(`^HTTP/1.1 204 .*parley-file-id: ${file_id}\r\n`, 'is'));
    expect((await ask(eve, 'HEAD', path)).status).toBe(404);
    expect(sha256(await download(ada, Number(file_id)))).toBe(sha256(bytes));
  });

  test('is removed at once by DELETE, but not once it is a file', async () => {
    const { ada } = await users(server(), 'ada');
    const before = await kept(server());
    const path = await announce(ada, 10);
    await append(ada, path, 0, 'hello');
    expect(await kept(server())).toEqual({ rows: before.rows + 1, blobs: before.blobs + 1 });
    expect((await ask(ada, 'DELETE', path)).status).toBe(204);
    expect(await kept(server())).toEqual(before);
    expectRefusal(await append(ada, path, 5, 'world'), 'not_found');
    expectRefusal(await ask(ada, 'DELETE', path), 'not_found');

    const finished = await upload(ada, bytes);
    expectRefusal(await ask(ada, 'DELETE', finished.path), 'conflict');
    expect(sha256(await download(ada, finished.fileId))).toBe(sha256(bytes));
  });

  test('can be deleted while its bytes arrive', async () => {
    const { ada } = await users(server(), 'ada');
    const before = await kept(server());
    const path = await announce(ada, bytes.length);
    const running = new SlowPatch(ada, path, 0, bytes.length);
    await running.write(bytes.subarray(0, half));
    await arrived(server(), path);
    expect((await ask(ada, 'DELETE', path)).status).toBe(204);
    expect(await running.answer).toMatch(/^HTTP\/1.1 204 /);
    expect(await kept(server())).toEqual(before);
  });

  test('has one writer at a time', async () => {
    const { ada } = await users(server(), 'ada');
    const path = await announce(ada, bytes.length);
    const first = new SlowPatch(ada, path, 0, bytes.length);
    await first.write(bytes.subarray(0, half));
    await arrived(server(), path);
    const others = await Promise.all(
      Array.from({ length: 5 }, (_, i) => append(ada, path, 0, someBytes(bytes.length, i + 2))),
    );
    for (const other of others) expectRefusal(other, 'conflict');
    expect(await first.answer).toMatch(/^HTTP\/1.1 204 /);
    const { fileId } = await upload(ada, bytes, { uploadUrl: `${ada.url}${path}` });
    expect(sha256(await download(ada, fileId))).toBe(sha256(bytes));
  });

  test('survives clients that race for it', async () => {
    const { ada } = await users(server(), 'ada');
    const path = await announce(ada, bytes.length);
    const race = () =>
      upload(ada, bytes, { uploadUrl: `${ada.url}${path}`, retryDelays: Array(1_000).fill(20), chunkSize: megabyte });
    const finished = await Promise.all([race(), race(), race()]);
    for (const { fileId } of finished) expect(fileId).toBe(finished[0]?.fileId ?? 0);
    expect(sha256(await download(ada, finished[0]?.fileId ?? 0))).toBe(sha256(bytes));
  });

  test('works beside many others', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const all = Array.from({ length: 10 }, (_, i) => someBytes(300_000 + i, i + 1));
    const done = await Promise.all(all.map((one, i) => upload(i % 2 ? ada : bob, one, { chunkSize: 100_000 })));
    for (const [i, { fileId }] of done.entries()) {
      const { file } = await (i % 2 ? ada : bob).ok('files.get', { file_id: fileId });
      expect(file).toMatchObject({ size: 300_000 + i, sha256: sha256(all[i] ?? '') });
    }
  });
});

onAnyEngine('the expiry of an upload', (engine) => {
  let server: TestServer;
  let moved = 0;
  const hour = 3_600_000;
  beforeAll(async () => {
    const env = { ...(await freshEnvironment(engine)), PARLEY_UPLOAD_HOURS: '2' };
    // Only the test removes files.
    server = await startServer(env, { now: () => Date.now() + moved, fileSweepMs: 24 * hour });
  });
  afterAll(() => server.stop());

  test('starts again with each append; afterwards the upload is gone, and removed', async () => {
    const ada = await server.user('ada');
    const path = await announce(ada, 15);
    const toldAndKept = async (headers: Headers) => {
      const { expires_at = 0 } = (await rowOf(server, path)) ?? {};
      return [headers.get('upload-expires'), new Date(expires_at).toUTCString()];
    };
    const [atFirst] = await toldAndKept((await ask(ada, 'HEAD', path)).headers);
    moved += 1.5 * hour;
    const [later, keptUntil] = await toldAndKept((await append(ada, path, 0, 'hello')).headers);
    expect(later).toBe(keptUntil ?? '');
    expect(Date.parse(later ?? '') - Date.parse(atFirst ?? '')).toBeGreaterThanOrEqual(1.5 * hour);
    moved += 1.5 * hour;
    expect((await append(ada, path, 5, 'world')).status).toBe(204);

    moved += 2 * hour;
    expect((await ask(ada, 'HEAD', path)).status).toBe(404);
    expectRefusal(await append(ada, path, 10, 'again'), 'not_found');
    expectRefusal(await ask(ada, 'DELETE', path), 'not_found');
    expect(await kept(server)).toEqual({ rows: 1, blobs: 1 });
    await removeEnded(server.engine, openDisk(server.env.PARLEY_DATA ?? ''), Date.now() + moved, () => {});
    expect(await kept(server)).toEqual({ rows: 0, blobs: 0 });
  });

  test('does not pass while its bytes arrive', async () => {
    const bob = await server.user('bob');
    const path = await announce(bob, 10);
    const slow = new SlowPatch(bob, path, 0, 10);
    for (const letter of 'helloworl') {
      const before = (await rowOf(server, path))?.expires_at ?? 0;
      moved += 0.5 * hour;
      await slow.write(Buffer.from(letter));
      await eventually('the expiry is extended', async () => {
        const { expires_at = 0 } = (await rowOf(server, path)) ?? {};
        return expires_at > before || undefined;
      });
    }
    await slow.write(Buffer.from('d'));
    expect(await slow.answer).toMatch(/^HTTP\/1.1 204 .*parley-file-id: /is);
  });
});

describe('refused uploads:', () => {
  const server = serverFor('sqlite', { PARLEY_FILE_LIMIT: '1000' });
  let ada: Client;
  beforeAll(async () => {
    ada = await server().user('ada');
  });
  const create = (headers: Record<string, string | undefined>, body?: BodyInit) =>
    ask(ada, 'POST', '/api/uploads', { 'upload-length': '10', ...headers }, body);
  const nothingIsKept = async () => expect(await kept(server())).toEqual({ rows: 0, blobs: 0 });

  test('other versions of the protocol, and a missing one', async () => {
    const path = await announce(ada, 10);
    for (const version of [undefined, '0.2.2', '1.0.1', '']) {
      const headers = { 'tus-resumable': version };
      const replies = [
        await create(headers),
        await append(ada, path, 0, 'hello', headers),
        await ask(ada, 'DELETE', path, headers),
      ];
      for (const { status, headers: answered, body } of replies) {
        expect([status, answered.get('tus-version')]).toEqual([412, '1.0.0']);
        expect(body).toMatchObject({ success: false, error: { code: 'invalid_request' } });
      }
      expect((await ask(ada, 'HEAD', path, headers)).status).toBe(412);
    }
    expect(await offsetOf(ada, path)).toBe(0);
    await ask(ada, 'DELETE', path);
    await nothingIsKept();
  });

  test('files that are too large, empty, or without a size', async () => {
    expectRefusal(await create({ 'upload-length': '1001' }), 'payload_too_large');
    expectRefusal(await create({ 'upload-length': '0' }), 'validation_failed');
    expectRefusal(await create({ 'upload-length': undefined }), 'invalid_request');
    expectRefusal(await create({ 'upload-length': undefined, 'upload-defer-length': '1' }), 'invalid_request');
    for (const size of ['-1', '1.5', 'ten', '1e3', '0x10', ' ']) {
      expectRefusal(await create({ 'upload-length': size }), 'invalid_request');
    }
    expectRefusal(await create({ 'upload-concat': 'partial' }), 'invalid_request');
    expect(statusOf(await upload(ada, someBytes(1001)).catch((error: unknown) => error))).toBe(413);
    await nothingIsKept();
  });

  test('more bytes than were announced', async () => {
    expectRefusal(await create({ 'content-type': appendType }, 'hello world'), 'payload_too_large');
    await nothingIsKept();
    const path = await announce(ada, 10);
    expectRefusal(await append(ada, path, 0, 'hello world'), 'payload_too_large');
    expect(await offsetOf(ada, path)).toBe(0);
    const ofUnknownLength = new ReadableStream({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode('hello world'));
        controller.close();
      },
    });
    expectRefusal(await append(ada, path, 0, ofUnknownLength), 'payload_too_large');
    expect(await offsetOf(ada, path)).toBe(0);
    expect((await append(ada, path, 0, '0123456789')).status).toBe(204);
  });

  test('bytes at another offset, or with another Content-Type', async () => {
    const path = await announce(ada, 10);
    await append(ada, path, 0, 'hello');
    for (const offset of [0, 4, 6, 10, 11]) expectRefusal(await append(ada, path, offset, 'w'), 'conflict');
    for (const offset of [undefined, '-1', '5.0', 'five']) {
      expectRefusal(await append(ada, path, 0, 'w', { 'upload-offset': offset }), 'invalid_request');
    }
    for (const type of ['application/octet-stream', 'application/json', '']) {
      expectRefusal(await append(ada, path, 5, 'w', { 'content-type': type }), 'unsupported_media_type');
    }
    expect(await offsetOf(ada, path)).toBe(5);
    expect((await append(ada, path, 5, 'world', { 'content-type': `${appendType}; charset=x` })).status).toBe(204);
  });

  test('names that no file may have', async () => {
    const before = await kept(server());
    for (const name of ['a\nb', 'nul\0', '..', '.', 'x/..', 'a'.repeat(256), '\u202Egnp.exe', ' \u0007']) {
      const error = expectRefusal(await create({ 'upload-metadata': named(name) }), 'validation_failed');
      expect(complaint(error, 'filename')).toBeString();
    }
    for (const metadata of ['filename', '', ' ', 'filename !!!', 'filename YQ==,filename Yg==', 'ä YQ==', 'a b c']) {
      const { status } = await create({ 'upload-metadata': metadata });
      expect([metadata, status]).toEqual([metadata, metadata === 'filename' ? 201 : 400]);
    }
    expect(await kept(server())).toEqual({ rows: before.rows + 1, blobs: before.blobs });
  });

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\ada\\notes.txt', 'notes.txt'],
    ['naïve 文件 🎈.txt', 'naïve 文件 🎈.txt'],
    ['', 'file.txt'],
  ])('the path of a name: %p becomes %p', async (given, expected) => {
    const { fileId } = await upload(ada, Buffer.from('some text'), { metadata: { filename: given } });
    expect((await ada.ok('files.get', { file_id: fileId })).file).toMatchObject({
      name: expected,
      mime_type: 'text/plain',
    });
  });

  test('other methods and URLs', async () => {
    const path = await announce(ada, 10);
    for (const method of ['GET', 'POST', 'PUT']) {
      const reply = await ask(ada, method, path);
      expectRefusal(reply, 'method_not_allowed');
      expect(reply.headers.get('allow')).toBe('HEAD, PATCH, DELETE, OPTIONS');
    }
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      expect((await ask(ada, method, '/api/uploads')).headers.get('allow')).toBe('POST, OPTIONS');
    }
    for (const address of [`${path}/more`, '/api/uploads/a/b', '/api/uploads/..%2f..', '/api/uploads/%00']) {
      expectRefusal(await ask(ada, 'DELETE', address), 'not_found');
    }
    expect((await ask(ada, 'POST', '/api/uploads/?x=1', { 'upload-length': '1' })).status).toBe(201);
  });

  test('callers without a token, without the scope, or from another site', async () => {
    const path = await announce(ada, 10);
    const narrow = new Client(ada.url, await server().token('ada', ['messages:read', 'messages:write']), ada.userId);
    const unknown = new Client(ada.url, 'pat_unknown', ada.userId);
    for (const [by, code] of [
      [narrow, 'insufficient_scope'],
      [unknown, 'unauthorized'],
    ] as const) {
      expectRefusal(await ask(by, 'POST', '/api/uploads', { 'upload-length': '10' }), code);
      const refused = await append(by, path, 0, 'hello');
      expectRefusal(refused, code);
      expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer realm="parley", error=/);
      expectRefusal(await ask(by, 'DELETE', path), code);
    }
    const services = accessOf(server());
    const { secret } = await services.engine.write((tx) =>
      openSession(tx, services, ada.userId as UserId, services.now()),
    );
    const cookie = { authorization: undefined, cookie: `${cookieNames(false).session}=${secret}` };
    const foreign = { ...cookie, 'sec-fetch-site': 'cross-site', origin: 'https://elsewhere.example' };
    expectRefusal(await append(ada, path, 0, 'hello', foreign), 'unauthorized');
    expectRefusal(await append(ada, path, 0, 'hello', cookie), 'unauthorized');
    const own = await append(ada, path, 0, 'hello', { ...cookie, 'sec-fetch-site': 'same-origin' });
    expect([own.status, own.headers.get('upload-offset')]).toEqual([204, '5']);
  });

  test('the rest after access has ended during an upload', async () => {
    const spare = await ada.ok('tokens.create', { name: 'spare' });
    const path = await announce(ada, 10);
    const { expires_at: announced = 0 } = (await rowOf(server(), path)) ?? {};
    const slow = new SlowPatch(new Client(ada.url, spare.access_token, ada.userId), path, 0, 10);
    await slow.write(Buffer.from('hello'));
    await eventually('it has started', async () => {
      const { expires_at = 0 } = (await rowOf(server(), path)) ?? {};
      return expires_at > announced || undefined;
    });
    await ada.ok('tokens.revoke', { token_id: spare.token.token_id });
    await slow.write(Buffer.from('world'));
    expect(await slow.answer).toMatch(/^HTTP\/1.1 401 .*"code":"unauthorized"/s);
    expect((await rowOf(server(), path))?.sha256).toBeNull();
    expect((await ada.ok('users.me', {})).user.user_id).toBe(ada.userId);
  });

  test('an interrupted creation with bytes leaves nothing', async () => {
    const before = await kept(server());
    const breaking = new ReadableStream({
      async pull(controller) {
        controller.enqueue(new TextEncoder().encode('hello'));
        await eventually('it has started', async () => (await kept(server())).rows > before.rows || undefined);
        controller.error(new Error('broken off'));
      },
    });
    const broken = create({ 'content-type': appendType }, breaking).catch(() => 'broken off');
    expect(await broken).toBe('broken off');
    await eventually('it is removed', async () => (await kept(server())).rows === before.rows || undefined);
    expect(await kept(server())).toEqual(before);
  });
});

describe('the protocol of uploads', () => {
  const lines: string[] = [];
  const server = serverFor(
    'sqlite',
    { LOG_LEVEL: 'info', PARLEY_FILE_LIMIT: '1000' },
    { print: (text) => void lines.push(...text.trim().split('\n')) },
  );

  test('OPTIONS describes the server, to programs and to browsers', async () => {
    for (const path of ['/api/uploads', '/api/uploads/some-key']) {
      const { status, headers } = await fetch(`${server().url}${path}`, { method: 'OPTIONS' });
      expect(status).toBe(204);
      expect(Object.fromEntries(headers)).toMatchObject({
        'tus-version': '1.0.0',
        'tus-max-size': '1000',
        'tus-extension': 'creation,creation-with-upload,termination,expiration',
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'POST, HEAD, PATCH, DELETE',
      });
      const allowed = headers.get('access-control-allow-headers')?.split(', ') ?? [];
      const needed = [
        'Authorization',
        'Content-Type',
        'Tus-Resumable',
        'Upload-Length',
        'Upload-Offset',
        'Upload-Metadata',
      ];
      expect(needed.filter((name) => !allowed.includes(name))).toEqual([]);
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  test('a browser on another site can read all headers, and never sends credentials', async () => {
    const ada = await server().user('ada');
    const origin = { origin: 'https://elsewhere.example' };
    const created = await ask(ada, 'POST', '/api/uploads', { ...origin, 'upload-length': '5' });
    const path = created.headers.get('location') ?? '';
    const replies = [
      created,
      await append(ada, path, 0, 'hello', origin),
      await ask(ada, 'HEAD', path, origin),
      await ask(ada, 'DELETE', path, origin),
      await ask(ada, 'POST', '/api/uploads', { ...origin, 'tus-resumable': undefined }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([201, 204, 200, 409, 412]);
    for (const { headers } of replies) {
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
      expect(headers.get('tus-resumable')).toBe('1.0.0');
      const exposed = headers.get('access-control-expose-headers')?.split(', ') ?? [];
      for (const name of ['Upload-Offset', 'Upload-Length', 'Upload-Metadata', 'Upload-Expires', 'Tus-Resumable']) {
        expect(exposed).toContain(name);
      }
      for (const name of [
        'Tus-Version',
        'Tus-Max-Size',
        'Tus-Extension',
        'Location',
        'Parley-File-Id',
        'Retry-After',
      ]) {
        expect(exposed).toContain(name);
      }
    }
  });

  test('a client that can only POST names its method in a header', async () => {
    const bob = await server().user('bob');
    const { fileId } = await upload(bob, someBytes(1000), { overridePatchMethod: true, chunkSize: 400 });
    expect((await bob.ok('files.get', { file_id: fileId })).file.sha256).toBe(sha256(someBytes(1000)));
  });

  test('each request is a line in the log and counts in the metrics', async () => {
    const cleo = await server().user('cleo');
    const path = await announce(cleo, 10);
    await append(cleo, path, 0, 'hello');
    await append(cleo, path, 0, 'hello');
    await ask(cleo, 'HEAD', path);
    await ask(cleo, 'DELETE', path);
    const expected = [
      ['POST', 'uploads.create', 201, undefined],
      ['PATCH', 'uploads.append', 204, undefined],
      ['PATCH', 'uploads.append', 409, 'conflict'],
      ['HEAD', 'uploads.look', 200, undefined],
      ['DELETE', 'uploads.remove', 204, undefined],
    ];
    const written = await eventually('the lines are written', async () => {
      const own = lines.map((line) => JSON.parse(line)).filter(({ user_id }) => user_id === cleo.userId);
      return own.length >= expected.length ? own : undefined;
    });
    expect(written.map(({ method, operation, status, code }) => [method, operation, status, code])).toEqual(expected);
    for (const line of written) expect(line).toMatchObject({ event: 'request', request_id: expect.any(String) });
    const metrics = await (await fetch(`${server().url}/metrics`)).text();
    expect(metrics).toMatch(/parley_request_duration_seconds_count\{operation="uploads.append",status="409"\} \d/);
  });

  test('requests count against the rate limit of the token', async () => {
    const now = Date.now();
    const env = { ...(await freshEnvironment('sqlite')), PARLEY_RATE_LIMIT: '1/2' };
    const limited = await startServer(env, { now: () => now });
    const ada = await limited.user('ada');
    const path = await announce(ada, 10);
    const second = await append(ada, path, 0, 'hello');
    expect([second.status, second.headers.get('ratelimit-limit')]).toEqual([204, '2']);
    const third = await append(ada, path, 5, 'world');
    expectRefusal(third, 'rate_limited');
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0);
    await limited.stop();
  });
});
