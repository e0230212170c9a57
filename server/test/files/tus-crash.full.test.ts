import { describe, expect, test } from 'bun:test';
import { withSegments } from '../../files/storage/segments.ts';
import { Client } from '../support/client.ts';
import { type Environment, freshEnvironment, onBothEngines } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { sha256, someBytes } from '../support/files.ts';
import { freePort } from '../support/postgres.ts';
import { attach, type ServerProcess, spawnServer } from '../support/server.ts';
import { freshPlace, onS3, openPlace } from '../support/storages.ts';
import { announce, append, ask, download, fileIdIn, offsetOf, type Path, SlowPatch, upload } from '../support/tus.ts';
import { lapse, spawnNode } from '../support/upload-node.ts';

const megabyte = 1024 * 1024;

/** On PostgreSQL a server waits until the leases of a dead one expire: here at once. */
async function spawn(env: Environment): Promise<ServerProcess> {
  if (env.DATABASE_URL === undefined) return spawnServer(env);
  const beside = await attach('', env);
  await lapse(beside);
  await beside.stop();
  return spawnNode(env);
}

/** Starts a server in a process of its own, with a user who uploads. */
async function begin(env: Environment): Promise<{ running: ServerProcess; ada: Client }> {
  const running = await spawn(env);
  const server = await attach(running.url, env);
  const ada = await server.user('ada');
  await server.stop();
  return { running, ada };
}

/** Waits until the storage has more than these bytes of an upload, under its current key. */
async function grows(env: Environment, path: Path, beyond: number): Promise<void> {
  const server = await attach('', env);
  const sql = 'SELECT key || segments AS key FROM files WHERE key = $1';
  const row = await server.engine.get<{ key: string }>(sql, [path.split('/').at(-1) ?? '']);
  const blobs = withSegments(openPlace(env.S3_URL ?? env.PARLEY_DATA ?? ''));
  const hasGrown = async () => (await blobs.sizeOf(row?.key ?? '')) > beyond || undefined;
  await eventually('bytes are stored', hasGrown);
  await server.stop();
}

/** Sends bytes until some are stored, kills the server meanwhile, and repeats that. */
async function killedAgainAndAgain(env: Environment, bytes: Uint8Array, step: number) {
  let { running, ada } = await begin(env);
  const path = await announce(ada, bytes.length);
  let offset = 0;
  for (let round = 0; round < 3; round++) {
    const patch = new SlowPatch(ada, path, offset, bytes.length - offset);
    await patch.write(bytes.subarray(offset, offset + step));
    await grows(env, path, offset);
    await running.kill('SIGKILL');
    expect(await patch.answer).toBe('');
    running = await spawn(env);
    ada = new Client(running.url, ada.token, ada.userId);
    const reached = await offsetOf(ada, path);
    expect(reached).toBeGreaterThan(offset);
    expect(reached).toBeLessThanOrEqual(offset + step);
    offset = reached;
    // An incomplete file is invisible: the only file has the first id.
    expect(await ada.refused('files.get', { file_id: 1 })).toBe('not_found');
  }
  const { fileId, requests } = await upload(ada, bytes, { uploadUrl: `${ada.url}${path}`, chunkSize: 3 * megabyte });
  expect(requests.slice(0, 2)).toEqual(['HEAD', `PATCH ${offset}`]);
  expect((await ada.ok('files.get', { file_id: fileId })).file).toMatchObject({ file_id: 1, sha256: sha256(bytes) });
  expect(sha256(await download(ada, fileId))).toBe(sha256(bytes));
  await running.kill('SIGTERM');
}

onBothEngines('an upload to a server that stops', (engine) => {
  test('resumes after SIGKILL, and has identical bytes', async () => {
    const env = await freshEnvironment(engine);
    await killedAgainAndAgain(env, someBytes(9 * megabyte + 17), 2.5 * megabyte);
  });

  test('is released by a stopping server, whose response has the stored offset', async () => {
    const env = await freshEnvironment(engine);
    const bytes = someBytes(5 * megabyte);
    const { running, ada } = await begin(env);
    const path = await announce(ada, bytes.length);
    const patch = new SlowPatch(ada, path, 0, bytes.length);
    await patch.write(bytes.subarray(0, 2 * megabyte));
    await grows(env, path, 0);
    expect(await running.kill('SIGTERM')).toBe(0);
    const [, told = ''] = /^HTTP\/1.1 204 .*upload-offset: (\d+)\r\n/is.exec(await patch.answer) ?? [];
    const next = await spawn(env);
    const again = new Client(next.url, ada.token, ada.userId);
    expect(await offsetOf(again, path)).toBe(Number(told));
    expect(Number(told)).toBeGreaterThan(0);
    const last = await append(again, path, Number(told), bytes.subarray(Number(told)));
    expect(sha256(await download(again, fileIdIn(last)))).toBe(sha256(bytes));
    await next.kill('SIGTERM');
  });

  test('is completed by a client that retries', async () => {
    const env = { ...(await freshEnvironment(engine)), PORT: String(await freePort()) };
    const bytes = someBytes(20 * megabyte);
    const first = await begin(env);
    const { ada } = first;
    let { running } = first;
    let chunks = 0;
    let restarts = 0;
    let restarted = Promise.resolve();
    const restart = async () => {
      await running.kill('SIGKILL');
      running = await spawn(env);
      restarts++;
    };
    const { fileId } = await upload(ada, bytes, {
      chunkSize: megabyte,
      retryDelays: Array(2_000).fill(50),
      // Meanwhile the next chunk is being sent.
      onChunkComplete: () => {
        if (++chunks % 5 === 0 && chunks < 20) restarted = restarted.then(restart);
      },
    });
    await restarted;
    expect(restarts).toBe(3);
    expect((await ada.ok('files.get', { file_id: fileId })).file.sha256).toBe(sha256(bytes));
    expect(sha256(await download(ada, fileId))).toBe(sha256(bytes));
    await running.kill('SIGTERM');
  });
});

onS3('an upload into a bucket, to a server that ends', () => {
  test('resumes after SIGKILL, and has identical bytes', async () => {
    const env = { ...(await freshEnvironment('sqlite')), S3_URL: await freshPlace('s3') };
    await killedAgainAndAgain(env, someBytes(34 * megabyte + 17), 10 * megabyte);
  });
});

describe('a large upload', () => {
  test('needs no more memory than a small one', async () => {
    const { running, ada } = await begin(await freshEnvironment('sqlite'));
    const piece = someBytes(megabyte);
    const pieces = 300;
    const hash = new Bun.CryptoHasher('sha256');
    const path = await announce(ada, pieces * megabyte);
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        hash.update(piece);
        controller.enqueue(piece.slice());
        if (++sent === pieces) controller.close();
      },
    });
    const { status } = await append(ada, path, 0, body);
    expect(status).toBe(204);
    const said = await Bun.file(`/proc/${running.process.pid}/status`).text();
    expect(Number(/VmHWM:\s*(\d+) kB/.exec(said)?.[1])).toBeLessThan(200 * 1_000);
    const { file } = await ada.ok('files.get', { file_id: fileIdIn(await ask(ada, 'HEAD', path)) });
    expect(file).toMatchObject({ size: pieces * megabyte, sha256: hash.digest('hex') });
    await running.kill('SIGTERM');
  });
});
