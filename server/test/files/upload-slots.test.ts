import { afterAll, beforeAll, expect, test } from 'bun:test';
import { maxPauseMs } from '../../http/upload-rate.ts';
import type { Client } from '../support/client.ts';
import { freshEnvironment } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import {
  Connection,
  filePart,
  formType,
  headOf,
  openForm,
  post,
  sending,
  someBytes,
  uploading,
} from '../support/files.ts';
import { botOf } from '../support/oauth.ts';
import { users } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { freshPlace, onBothStorages } from '../support/storages.ts';
import { announce, append, download, fileIdIn, offsetOf, SlowPatch } from '../support/tus.ts';

const rawType = 'application/octet-stream';
const hour = 3_600_000;

onBothStorages('slots for uploads', (storage) => {
  let server: TestServer;
  let at = 0;
  beforeAll(async () => {
    const place = storage === 's3' ? { S3_URL: await freshPlace(storage) } : {};
    // A lease must outlast the pauses.
    const runtime = { monotonic: () => at, uploadLeaseMs: 24 * hour, uploadRenewMs: hour };
    server = await startServer({ ...(await freshEnvironment('sqlite')), ...place }, runtime);
  });
  afterAll(() => server?.stop());

  /** Starts an upload that stops after its first byte. */
  async function start(by: Client, path: string, contentType: string, bytes: string | Uint8Array): Promise<Connection> {
    const connection = await Connection.to(server.url);
    await connection.write(headOf(by, path, 1_000_000, contentType));
    await connection.write(bytes);
    return connection;
  }

  /** Lets each client send a byte after a pause that is too long, until all have a response. */
  const drip = (connections: readonly Connection[]) =>
    eventually('all uploads have a response', async () => {
      at += maxPauseMs + 1;
      const open = connections.filter(({ isAnswered }) => !isAnswered);
      for (const connection of open) await connection.write('a');
      return open.length === 0 || undefined;
    });

  test('are shared by a person and their bots, left for others, and lost by slow uploads', async () => {
    const { ada, bob } = await users(server, 'ada', 'bob');
    const bot = await botOf(server, ada);
    const upload = async (who: Client) => (await post(who, uploading, 'text', rawType)).status;
    const held: Connection[] = [];
    for (let i = 0; i < 20; i++) held.push(await start(i % 2 ? ada : bot, uploading, rawType, 'a'));
    const slots = storage === 's3' ? 8 : 20;
    await eventually('ada and the bot hold all their slots', async () => {
      const row = await server.engine.get<{ open: number }>('SELECT count(*) AS open FROM files WHERE sha256 IS NULL');
      return row?.open === slots || undefined;
    });
    expect([await upload(ada), await upload(bot)]).toEqual([503, 503]);
    expect(await upload(bob)).toBe(200);

    await drip(held);
    const answers = await Promise.all(held.map((connection) => connection.answer()));
    const cut = answers.filter(({ status }) => status === 408);
    expect(cut.length).toBe(slots);
    expect(cut[0]?.body).toMatchObject({ success: false, error: { code: 'invalid_request' } });
    expect([await upload(ada), await upload(bot)]).toEqual([200, 200]);
  });

  test('are lost by slow forms', async () => {
    const { ada } = await users(server, 'ada');
    const form = openForm(filePart('a'));
    const slow = await Promise.all([start(ada, uploading, formType, form), start(ada, sending, formType, form)]);
    await drip(slow);
    const statuses = await Promise.all(slow.map(async (connection) => (await connection.answer()).status));
    expect(statuses).toEqual([408, 408]);
  });

  test('are lost by slow resumable uploads, which keep their bytes', async () => {
    const { ada } = await users(server, 'ada');
    const bytes = someBytes(5_000);
    const path = await announce(ada, bytes.length);
    const patch = new SlowPatch(ada, path, 0, bytes.length);
    let answer: string | undefined;
    void patch.answer.then((received) => {
      answer = received;
    });
    let sent = 0;
    await eventually('the request has a response', async () => {
      at += maxPauseMs + 1;
      await patch.write(bytes.subarray(sent, ++sent)).catch(() => {});
      return answer;
    });
    expect(answer).toContain('HTTP/1.1 423');
    expect(answer).toContain('too slow');
    const offset = await offsetOf(ada, path);
    expect(offset).toBeGreaterThan(0);
    const rest = await append(ada, path, offset, bytes.subarray(offset));
    expect(rest.status).toBe(204);
    expect(Buffer.compare(await download(ada, fileIdIn(rest)), bytes)).toBe(0);
  });
});
