import { describe, expect, test } from 'bun:test';
import { Client } from './support/client.ts';
import { freshEnvironment, onBothEngines } from './support/engines.ts';
import { sha256, someBytes } from './support/files.ts';
import { freePort } from './support/postgres.ts';
import { attach, type ServerProcess, spawnServer } from './support/server.ts';
import { freshPlace, onS3, openPlace } from './support/storages.ts';
import { announce, append, ask, download, fileIdIn, offsetOf, type Path, SlowPatch, upload } from './support/tus.ts';
import { eventually } from './support/world.ts';

const megabyte = 1024 * 1024;

/** A server in a process of its own, and somebody who uploads to it. */
async function begin(env: Record<string, string>): Promise<{ running: ServerProcess; ada: Client }> {
  const running = await spawnServer(env);
  const server = await attach(running.url, env);
  const ada = await server.user('ada');
  await server.stop();
  return { running, ada };
}

/** The storage has more of an upload than so many bytes. */
const grows = (place: string, path: Path, beyond: number) =>
  eventually(
    'bytes are kept',
    async () => {
      const size = await openPlace(place).sizeOf(path.split('/').at(-1) ?? '');
      return size > beyond || undefined;
    },
    15_000,
  );

/** Sends bytes until some of them are kept, and kills the server in the midst of it, time and again. */
async function killedAgainAndAgain(env: Record<string, string>, place: string, bytes: Uint8Array, step: number) {
  let { running, ada } = await begin(env);
  const path = await announce(ada, bytes.length);
  let offset = 0;
  for (let round = 0; round < 3; round++) {
    const patch = new SlowPatch(ada, path, offset, bytes.length - offset);
    await patch.write(bytes.subarray(offset, offset + step));
    await grows(place, path, offset);
    await running.kill('SIGKILL');
    expect(await patch.answer).toBe('');
    running = await spawnServer(env);
    ada = new Client(running.url, ada.token, ada.userId);
    const reached = await offsetOf(ada, path);
    expect(reached).toBeGreaterThan(offset);
    expect(reached).toBeLessThanOrEqual(offset + step);
    offset = reached;
    // Half a file is none: the only one that there is has the first id.
    expect(await ada.refused('files.get', { file_id: 1 })).toBe('not_found');
  }
  const { fileId, requests } = await upload(ada, bytes, { uploadUrl: `${ada.url}${path}`, chunkSize: 3 * megabyte });
  expect(requests.slice(0, 2)).toEqual(['HEAD', `PATCH ${offset}`]);
  expect((await ada.ok('files.get', { file_id: fileId })).file).toMatchObject({ file_id: 1, sha256: sha256(bytes) });
  expect(sha256(await download(ada, fileId))).toBe(sha256(bytes));
  await running.kill('SIGTERM');
}

onBothEngines('an upload to a server that ends', (engine) => {
  test('goes on after SIGKILL from where it was, and is bit by bit what it was', async () => {
    const env = await freshEnvironment(engine);
    await killedAgainAndAgain(env, env.PARLEY_DATA ?? '', someBytes(9 * megabyte + 17), 2.5 * megabyte);
  }, 60_000);

  test('is let go of by a server that is told to stop: what it answers is what it keeps', async () => {
    const env = await freshEnvironment(engine);
    const bytes = someBytes(5 * megabyte);
    const { running, ada } = await begin(env);
    const path = await announce(ada, bytes.length);
    const patch = new SlowPatch(ada, path, 0, bytes.length);
    await patch.write(bytes.subarray(0, 2 * megabyte));
    await grows(env.PARLEY_DATA ?? '', path, 0);
    expect(await running.kill('SIGTERM')).toBe(0);
    const [, told = ''] = /^HTTP\/1.1 204 .*upload-offset: (\d+)\r\n/is.exec(await patch.answer) ?? [];
    const next = await spawnServer(env);
    const again = new Client(next.url, ada.token, ada.userId);
    expect(await offsetOf(again, path)).toBe(Number(told));
    expect(Number(told)).toBeGreaterThan(0);
    const last = await append(again, path, Number(told), bytes.subarray(Number(told)));
    expect(sha256(await download(again, fileIdIn(last)))).toBe(sha256(bytes));
    await next.kill('SIGTERM');
  }, 60_000);

  test('is brought to its end by a client that insists', async () => {
    const env = { ...(await freshEnvironment(engine)), PORT: String(await freePort()) };
    const bytes = someBytes(20 * megabyte);
    const first = await begin(env);
    const { ada } = first;
    let { running } = first;
    let chunks = 0;
    const restarts: Promise<void>[] = [];
    const restart = async () => {
      await running.kill('SIGKILL');
      running = await spawnServer(env);
    };
    const { fileId } = await upload(ada, bytes, {
      chunkSize: megabyte,
      retryDelays: Array(200).fill(50),
      // While the chunk after it is on its way.
      onChunkComplete: () => {
        if (++chunks % 5 === 0 && chunks < 20) restarts.push(restart());
      },
    });
    await Promise.all(restarts);
    expect(restarts).toHaveLength(3);
    expect((await ada.ok('files.get', { file_id: fileId })).file.sha256).toBe(sha256(bytes));
    expect(sha256(await download(ada, fileId))).toBe(sha256(bytes));
    await running.kill('SIGTERM');
  }, 60_000);
});

onS3('an upload into a bucket, to a server that ends', () => {
  test('goes on after SIGKILL from where it was, and is bit by bit what it was', async () => {
    const place = await freshPlace('s3');
    const env = { ...(await freshEnvironment('sqlite')), S3_URL: place };
    await killedAgainAndAgain(env, place, someBytes(34 * megabyte + 17), 10 * megabyte);
  }, 120_000);
});

describe('a large upload', () => {
  test('does not need more memory than a small one', async () => {
    const { running, ada } = await begin(await freshEnvironment('sqlite'));
    const piece = someBytes(megabyte);
    const pieces = 500;
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
    expect(Number(/VmHWM:\s*(\d+) kB/.exec(said)?.[1])).toBeLessThan(120 * 1_000);
    const { file } = await ada.ok('files.get', { file_id: fileIdIn(await ask(ada, 'HEAD', path)) });
    expect(file).toMatchObject({ size: pieces * megabyte, sha256: hash.digest('hex') });
    await running.kill('SIGTERM');
  }, 60_000);
});
