import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { UserId } from '@parley/contract';
import { processRuntime } from '../../compose.ts';
import { Hashes } from '../../files/hashes.ts';
import { UploadLocks } from '../../files/locks.ts';
import { removeEnded } from '../../files/removal.ts';
import { openDisk } from '../../files/storage/disk.ts';
import { withSegments } from '../../files/storage/segments.ts';
import { Uploads } from '../../files/uploads.ts';
import { Client } from '../support/client.ts';
import { type Environment, freshEnvironment, onBothEngines, onPostgres } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { kept, sha256, someBytes } from '../support/files.ts';
import { users } from '../support/people.ts';
import { startPostgres } from '../support/postgres.ts';
import { noQuotas } from '../support/quotas.ts';
import { attach, type ServerProcess, serverFor, startServer, type TestServer } from '../support/server.ts';
import { freshPlace, onBothStorages, openPlace, type StorageName } from '../support/storages.ts';
import {
  announce,
  append,
  ask,
  download,
  fileIdIn,
  offsetOf,
  type Path,
  SlowPatch,
  statusOf,
  upload,
} from '../support/tus.ts';
import { heldLong, lapse, spawnNode } from '../support/upload-node.ts';
import { expectRefusal } from '../support/wire.ts';

const megabyte = 1024 * 1024;

const keyIn = (path: Path): string => path.split('/').at(-1) ?? '';

/** The progress of a client that retries until its upload is complete. */
const insist = { retryDelays: Array<number>(1_000).fill(100) };

/** One user's uploads at two server processes on one database and one storage. */
interface Nodes {
  readonly server: TestServer;
  readonly place: string;
  readonly first: ServerProcess;
  readonly second: ServerProcess;
  readonly atFirst: Client;
  readonly atSecond: Client;
  stop(): Promise<void>;
}

async function startNodes(storage: StorageName, given: Environment = {}): Promise<Nodes> {
  const place = await freshPlace(storage);
  const env = {
    ...(await freshEnvironment('postgres')),
    ...given,
    ...(storage === 'disk' ? { PARLEY_DATA: place } : { S3_URL: place }),
  };
  const first = await spawnNode(env);
  const second = await spawnNode(env);
  const server = await attach(first.url, env);
  const { token, userId } = await server.user('ada');
  return {
    server,
    place,
    first,
    second,
    atFirst: new Client(first.url, token, userId),
    atSecond: new Client(second.url, token, userId),
    stop: async () => {
      await server.stop();
      await Promise.all([first, second].map((node) => node.kill('SIGKILL')));
    },
  };
}

/** Waits until the storage has more than these bytes of an upload. */
const grows = (place: string, path: Path, beyond: number) =>
  eventually('bytes are stored', async () =>
    (await openPlace(place).sizeOf(keyIn(path))) > beyond ? true : undefined,
  );

/** Bytes that differ by server, to show who wrote them: the first server's up to an offset, and then the second's. */
const spliced = (before: Uint8Array, offset: number, after: Uint8Array): Uint8Array =>
  Buffer.concat([before.subarray(0, offset), after.subarray(offset)]);

async function expectFile({ atFirst, atSecond }: Nodes, fileId: number, bytes: Uint8Array): Promise<void> {
  expect((await atFirst.ok('files.get', { file_id: fileId })).file.sha256).toBe(sha256(bytes));
  expect(sha256(await download(atSecond, fileId))).toBe(sha256(bytes));
}

onPostgres('an upload between two servers', () => {
  onBothStorages('on one storage', (storage) => {
    const size = storage === 'disk' ? 6 * megabyte + 17 : 13 * megabyte + 17;
    const begun = (storage === 'disk' ? 2.5 : 9.5) * megabyte + 100_000;
    const [bytes, others] = [someBytes(size, 1), someBytes(size, 2)];
    let nodes: Nodes;
    beforeAll(async () => {
      nodes = await startNodes(storage);
    });
    afterAll(() => nodes.stop());

    test('is released by the server where it stalls, and resumed at the other', async () => {
      const { atFirst, atSecond, place } = nodes;
      const path = await announce(atFirst, size);
      const stalled = new SlowPatch(atFirst, path, 0, size);
      await stalled.write(bytes.subarray(0, begun));
      await grows(place, path, 0);
      const offset = await offsetOf(atSecond, path);
      expect(await stalled.answer).toMatch(new RegExp(`^HTTP/1.1 204 .*upload-offset: ${offset}\r\n`, 'is'));
      await stalled.write(bytes.subarray(begun)).catch(() => {});
      const { fileId, requests } = await upload(atSecond, others, { uploadUrl: `${atSecond.url}${path}` });
      expect(requests).toEqual(['HEAD', `PATCH ${offset}`]);
      await expectFile(nodes, fileId, spliced(bytes, offset, others));
    });

    test.each([
      ['with much of it still to come', begun],
      ['in the midst of writing', size - 1],
    ])('is not changed by a server that was suspended, %s', async (_, sent) => {
      const { server, atFirst, atSecond, place, first } = nodes;
      const path = await announce(atFirst, size);
      const stale = new SlowPatch(atFirst, path, 0, size);
      const sending = stale.write(bytes.subarray(0, sent));
      await grows(place, path, 0);
      first.process.kill('SIGSTOP');
      await lapse(server);
      const offset = await offsetOf(atSecond, path);
      const fileId = fileIdIn(await append(atSecond, path, offset, others.subarray(offset)));
      expect(fileId).toBeGreaterThan(0);
      first.process.kill('SIGCONT');
      await sending;
      await stale.write(bytes.subarray(sent)).catch(() => {});
      expect(await stale.answer).toMatch(/^HTTP\/1.1 423 .*"code":"conflict"/s);
      await expectFile(nodes, fileId, spliced(bytes, offset, others));
      // It works again, and returns the offset of the other.
      expect(fileIdIn(await ask(atFirst, 'HEAD', path))).toBe(fileId);
    });

    test('is kept by a server that was suspended beyond its lease, if no other took it', async () => {
      const { server, place } = nodes;
      let slept = 0;
      const monotonic = () => performance.now() + slept;
      const sleeper = await startServer(server.env, { ...heldLong, uploadRenewMs: 3_600_000, monotonic });
      const atSleeper = new Client(sleeper.url, nodes.atFirst.token, nodes.atFirst.userId);
      const path = await announce(atSleeper, size);
      const slow = new SlowPatch(atSleeper, path, 0, size);
      await slow.write(bytes.subarray(0, begun));
      await grows(place, path, 0);
      slept += heldLong.uploadLeaseMs;
      await lapse(server);
      await slow.write(bytes.subarray(begun)).catch(() => {});
      expect(await slow.answer).toMatch(/^HTTP\/1.1 423 /);
      const { fileId, requests } = await upload(atSleeper, bytes, { uploadUrl: `${sleeper.url}${path}` });
      expect(requests.at(-1)).toMatch(/^PATCH [1-9]/);
      await expectFile(nodes, fileId, bytes);
      await sleeper.stop();
    });

    test('resumes at the other once the lease of a killed server has expired', async () => {
      const { server, atFirst, atSecond, place, first } = nodes;
      const path = await announce(atFirst, size);
      const broken = new SlowPatch(atFirst, path, 0, size);
      await broken.write(bytes.subarray(0, begun));
      await grows(place, path, 0);
      await first.kill('SIGKILL');
      await lapse(server);
      const { fileId, requests } = await upload(atSecond, bytes, { uploadUrl: `${atSecond.url}${path}`, ...insist });
      expect(requests.at(-1)).toMatch(/^PATCH [1-9]/);
      await expectFile({ ...nodes, atFirst: atSecond }, fileId, bytes);
    });
  });

  test('is given up by a server without the database for longer than the lease, and resumed afterwards', async () => {
    const postgres = await startPostgres({ fsync: false });
    const place = await freshPlace('disk');
    const env = { ...(await freshEnvironment('postgres')), DATABASE_URL: await postgres.freshDatabase() };
    const server = await startServer({ ...env, PARLEY_DATA: place }, { uploadLeaseMs: 15_000 });
    const { ada } = await users(server, 'ada');
    const bytes = someBytes(3 * megabyte);
    const path = await announce(ada, bytes.length);
    const patch = new SlowPatch(ada, path, 0, bytes.length);
    await patch.write(bytes.subarray(0, megabyte));
    await grows(place, path, 0);
    await postgres.stop('fast');
    // The client sends nothing more, and still gets a response.
    expect(await patch.answer).toMatch(/^HTTP\/1.1 (423|503) /);
    await postgres.start();
    const { fileId } = await upload(ada, bytes, { uploadUrl: `${ada.url}${path}`, ...insist });
    expect(sha256(await download(ada, fileId))).toBe(sha256(bytes));
    await server.stop();
  });

  test('gets a 423 while the other server holds it: after that a client does not start again', async () => {
    const server = await startServer(await freshEnvironment('postgres'), { uploadWaitMs: 300 });
    const { ada } = await users(server, 'ada');
    const [path, another] = [await announce(ada, 10), await announce(ada, 10)];
    // Held for longer than a request waits.
    await server.engine.run(
      `UPDATE files SET lease_number = 7, lease_expires_at = ${server.engine.dialect.now} + 600000`,
    );
    const client = upload(ada, Buffer.from('0123456789'), { uploadUrl: `${ada.url}${path}` });
    const [looked, appended] = await Promise.all([
      client.catch((error: unknown) => error),
      append(ada, another, 0, 'hello'),
    ]);
    expect(statusOf(looked)).toBe(423);
    expect([appended.status, appended.body.success]).toEqual([423, false]);
    expect((await kept(server)).rows).toBe(2);
    await server.engine.run('UPDATE files SET lease_expires_at = 0');
    expect((await append(ada, path, 0, '0123456789')).status).toBe(204);
    await server.stop();
  });

  test('survives clients that race for it at all servers', async () => {
    const env = await freshEnvironment('postgres');
    const servers = [await startServer(env, heldLong), await startServer(env, heldLong)];
    const [server] = servers as [TestServer, TestServer];
    const { ada } = await users(server, 'ada');
    const bytes = someBytes(5 * megabyte + 3);
    const path = await announce(ada, bytes.length);
    const race = async ({ url }: TestServer) => {
      const client = new Client(url, ada.token, ada.userId);
      return upload(client, bytes, { uploadUrl: `${url}${path}`, ...insist, chunkSize: megabyte });
    };
    const finished = await Promise.all([...servers, ...servers].map(race));
    for (const { fileId } of finished) expect(fileId).toBe(finished[0]?.fileId ?? 0);
    expect(sha256(await download(ada, finished[0]?.fileId ?? 0))).toBe(sha256(bytes));
    expect((await kept(server)).rows).toBe(1);
    for (const one of servers) await one.stop();
  });
});

const leaseMs = heldLong.uploadLeaseMs;

/** Returns the part of a server that writes uploads. */
function nodeOn(server: TestServer, options: { renewMs?: number; interruptOthers?: (key: string) => void } = {}) {
  const { engine, env } = server;
  const { now, random, monotonic } = processRuntime;
  const blobs = withSegments(openDisk(env.PARLEY_DATA ?? ''));
  const { renewMs = leaseMs, interruptOthers = () => {} } = options;
  const times = { monotonic, leaseMs, renewMs, waitMs: leaseMs };
  const locks = new UploadLocks({ engine, ...times, alone: false, hasLateWrites: false, interruptOthers });
  const uploads = new Uploads({
    engine,
    blobs,
    now,
    random,
    fileBytes: 1e9,
    keptMs: 3_600_000,
    quotas: noQuotas,
    requireRoom: () => {},
  });
  return { uploads, blobs, locks };
}

const forEver = () => {};

onBothEngines('the lease of an upload', (engine) => {
  const server = serverFor(engine);
  const begin = async (size = 10) => {
    const { ada } = await users(server(), 'ada');
    const row = await nodeOn(server()).uploads.announce(ada.userId as UserId, 'file.bin', size);
    return { ada, row };
  };
  const never = () => {
    throw new Error('nobody was to be asked');
  };
  const take = async (key: string, letGo: () => void = never) => {
    const lease = await nodeOn(server()).locks.take(key, letGo, never);
    if (!lease) throw new Error('there is no such upload');
    return lease;
  };
  const write = async (row: Parameters<Uploads['open']>[0], at: number, lease: number, text: string) => {
    const { uploads } = nodeOn(server());
    const incoming = await uploads.open(row, at, uploads.enter(row.user_id), lease);
    await incoming.write(Buffer.from(text));
    return incoming.close();
  };

  test('is released at once when another server asks for it', async () => {
    const { row } = await begin();
    const asked: string[] = [];
    const first = nodeOn(server());
    const second = nodeOn(server(), {
      interruptOthers: (key) => {
        asked.push(key);
        first.locks.interrupt(key);
      },
    });
    const { promise: held, resolve: hold } = Promise.withResolvers<void>();
    const releasing = first.locks.hold(row.key, ({ signal }) => {
      hold();
      return new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    await held;
    const taken = await second.locks.take(row.key, never, forEver);
    await releasing;
    expect(asked[0]).toBe(row.key);
    expect([taken?.number, taken?.isDoubtful]).toEqual([2, false]);
    // A waiting request has no lease to release.
    const waiting = first.locks.hold(row.key, async ({ signal }) => signal.aborted);
    first.locks.interrupt(row.key);
    await taken?.release();
    expect(await waiting).toBe(false);
  });

  test('is released at its next renewal if the request for it was lost', async () => {
    const { row } = await begin();
    const { promise: wanted, resolve: letGo } = Promise.withResolvers<void>();
    const held = await nodeOn(server(), { renewMs: 50 }).locks.take(row.key, letGo, never);
    const releasing = wanted.then(() => held?.release());
    const taken = await nodeOn(server()).locks.take(row.key, never, forEver);
    expect(await releasing).toBe(true);
    expect(taken?.isDoubtful).toBe(false);
    await taken?.release();
  });

  test('is renewed while it is held', async () => {
    const { row } = await begin();
    const held = await nodeOn(server(), { renewMs: 50 }).locks.take(row.key, forEver, never);
    const until = async () => {
      const sql = 'SELECT lease_expires_at FROM files WHERE file_id = $1';
      return (await server().engine.get<{ lease_expires_at: number }>(sql, [row.file_id]))?.lease_expires_at ?? 0;
    };
    const before = await until();
    await eventually('it is renewed', async () => ((await until()) > before ? true : undefined));
    expect(held?.isLost).toBe(false);
    expect(await held?.release()).toBe(true);
    expect(await until()).toBe(0);
  });

  test('is lost only when another server takes it after it expired', async () => {
    const { row } = await begin();
    const held = await nodeOn(server(), { renewMs: 50 }).locks.take(row.key, forEver, never);
    if (!held) throw new Error('there is no such upload');
    const { promise: told, resolve: tell } = Promise.withResolvers<Error>();
    held.whenLost(tell);
    await lapse(server());
    // It may be renewed before it is taken. Then it must expire again.
    const other = await nodeOn(server()).locks.take(row.key, never, () => void lapse(server()));
    if (!other) throw new Error('there is no such upload');
    expect(other.isDoubtful).toBe(true);
    expect((await told).message).toContain('lost the upload');
    expect(() => held.check()).toThrow('lost the upload');
    expect(await held.release()).toBe(false);
    other.check();
    expect(await other.release()).toBe(true);
    // Expired, but not taken.
    const lapsed = await take(row.key);
    await lapse(server());
    expect(await lapsed.release()).toBe(true);
  });

  test('is needed to complete an upload, to remove it, and to start a segment', async () => {
    const { ada, row } = await begin();
    const { uploads } = nodeOn(server());
    const stale = await take(row.key);
    expect(await write(row, 0, stale.number, 'helloworld')).toBe(10);
    const file = await uploads.seal(row, 10, stale.number);
    await lapse(server());
    const other = await take(row.key);
    expect(await uploads.complete(file, stale.number)).toBe(false);
    expect(await uploads.complete(file)).toBe(false);
    expect(await uploads.abandon(row, stale.number)).toBe(false);
    expect(await uploads.abandon(row)).toBe(false);
    expect(await ada.refused('files.get', { file_id: row.file_id })).toBe('not_found');
    expect(await uploads.complete(file, other.number)).toBe(true);
    other.fulfil();
    expect(new TextDecoder().decode(await download(ada, row.file_id))).toBe('helloworld');

    const { row: half } = await begin();
    const slow = await take(half.key);
    await lapse(server());
    const next = await take(half.key);
    await lapse(server());
    const last = await take(half.key);
    expect(await uploads.follow(half, next)).toBeUndefined();
    expect((await uploads.follow(half, last))?.key).toBe(`${half.key}.0`);
    await Promise.all([slow, next, last].map((lease) => lease.release()));
  });

  test('that has expired leaves the upload doubtful until a new segment starts', async () => {
    const { ada, row } = await begin();
    const { uploads } = nodeOn(server());
    const stale = await take(row.key);
    expect(await write(row, 0, stale.number, 'hel')).toBe(3);
    await lapse(server());
    // Takes the lease, writes nothing, and releases it.
    await (await take(row.key)).release();
    const lease = await take(row.key);
    expect(lease.isDoubtful).toBe(true);
    const segment = await uploads.follow(row, lease);
    expect(segment?.key).toBe(`${row.key}.3`);
    expect(await write(row, 3, stale.number, 'p!!!!!!')).toBe(10);
    expect(await write(segment ?? row, 3, lease.number, 'lo')).toBe(5);
    expect(await lease.release()).toBe(true);
    await stale.release();
    // For clients it is one upload with one URL, and one file in the end.
    const path = `/api/uploads/${row.key}`;
    expect(await offsetOf(ada, path)).toBe(5);
    const last = await append(ada, path, 5, 'world');
    expect(fileIdIn(last)).toBe(row.file_id);
    expect(new TextDecoder().decode(await download(ada, row.file_id))).toBe('helloworld');
    expect((await ada.ok('files.get', { file_id: row.file_id })).file.sha256).toBe(sha256('helloworld'));
    const address = `${ada.url}/api/files.php?action=download&file_id=${row.file_id}`;
    const range = await fetch(address, { headers: { authorization: `Bearer ${ada.token}`, range: 'bytes=2-5' } });
    expect([range.status, await range.text()]).toEqual([206, 'llow']);
  });

  test('keeps an expired upload from being removed', async () => {
    const { ada, row } = await begin();
    const { blobs } = nodeOn(server());
    const sweep = async () => {
      const later = Date.now() + 1_000 * 3_600_000;
      while (await removeEnded(server().engine, blobs, later, () => {}));
    };
    const held = await take(row.key);
    await write(row, 0, held.number, 'hello');
    await sweep();
    const path = `/api/uploads/${row.key}`;
    await held.release();
    expect(await offsetOf(ada, path)).toBe(5);
    const lapsed = await take(row.key);
    await lapse(server());
    const segment = await nodeOn(server()).uploads.follow(row, await take(row.key));
    await write(segment ?? row, 5, lapsed.number + 1, 'wor');
    await lapse(server());
    await sweep();
    expect((await ask(ada, 'HEAD', path)).status).toBe(404);
    expect(segment?.key).toBe(`${row.key}.5`);
    for (const name of [row.key, `${row.key}-1`]) expect(await blobs.sizeOf(name)).toBe(0);
    await lapsed.release();
  });

  test('does not block a cancelled request', async () => {
    const { ada, row } = await begin();
    expect(await take(row.key).then((lease) => lease.release())).toBe(true);
    expect((await ask(ada, 'DELETE', `/api/uploads/${row.key}`)).status).toBe(204);
    expect(await nodeOn(server()).locks.take(row.key, never, never)).toBeUndefined();
    expectRefusal(await append(ada, `/api/uploads/${row.key}`, 0, 'hello'), 'not_found');
  });
});

describe('a running hash', () => {
  test('is only used if no other server can have written since', () => {
    const hashes = new Hashes();
    hashes.at('key', 0, 1)?.update(Buffer.from('hello'));
    hashes.follow('key', 2);
    const known = hashes.at('key', 5, 2);
    expect(known?.digest()).toBe(sha256('hello'));
    hashes.follow('key', 4);
    expect(hashes.at('key', 5, 4)).toBeUndefined();
    hashes.at('key', 0, 5)?.update(Buffer.from('hello'));
    expect(hashes.at('key', 5, 6)).toBeUndefined();
  });
});
