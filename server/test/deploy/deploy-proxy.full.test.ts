import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Client } from '../support/client.ts';
import { freshEnvironment } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import {
  Connection,
  chunk,
  filePart,
  formEnd,
  headOf,
  openForm,
  sha256,
  someBytes,
  uploading,
} from '../support/files.ts';
import { Forwarder } from '../support/forwarder.ts';
import { behindProxy, type Fleet, type Node, startFleet } from '../support/proxy.ts';
import { EventReader, streamUrl } from '../support/streams.ts';
import { expectRefusal, request } from '../support/wire.ts';

/** A path as it stands, which clients of higher standing would tidy up. */
const curl = (...command: string[]): string => {
  const run = Bun.spawnSync(['curl', '-sS', '--max-time', '100', '--path-as-is', ...command]);
  if (!run.success) throw new Error(run.stderr.toString());
  return run.stdout.toString();
};

const group = async (by: Client): Promise<number> =>
  (await by.ok('messages.create_group', { name: 'g', participants: [] })).group.chat_id;

/** Sends `count` messages in sequence. Each must be accepted at the first attempt. */
async function sendAll(by: Client, chat_id: number, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await by.ok('messages.send_message', { chat_id, content: `message ${i}` });
}

/** Sends `count` messages, and retries each with the same idempotency key, as our clients do. */
async function sendWithRetries(by: Client, chat_id: number, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const key = { 'idempotency-key': crypto.randomUUID() };
    await eventually('it is accepted', async () => {
      const { status, error } = await by.call('messages.send_message', { chat_id, content: `message ${i}` }, key);
      if (error) expect(error.code).toBe('unavailable');
      return status === 200 || undefined;
    });
  }
}

behindProxy('two nodes behind the proxy', () => {
  let fleet: Fleet;
  let ada: Client;
  beforeAll(async () => {
    fleet = await startFleet();
    ada = await fleet.server.user('ada');
  });
  afterAll(() => fleet?.stop());

  test('share the requests to one URL', async () => {
    for (let i = 0; i < 30; i++) expect((await ada.ok('users.me', {})).user.name).toBe('ada');
    for (const node of fleet.nodes) expect(await node.answered('users.me')).toBeGreaterThan(0);
    expect(await (await fetch(`${fleet.server.url}/sign-in`)).text()).toContain('</html>');
  });

  test('give the same responses', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => ada.call('users.me', {})));
    const seen = JSON.stringify(answers.map(({ headers, body }) => [[...headers], body]));
    for (const node of fleet.nodes) expect(seen).not.toContain(new URL(node.url).host);
  });

  test('serve no metrics to the outside', async () => {
    for (const node of fleet.nodes) expect(curl(`${node.url}/metrics`)).toContain('parley_');
    const paths = ['/metrics', '/metrics?a=b', '/metrics/', '//metrics', '/./metrics', '/api/../metrics', '/%6detrics'];
    const more = ['/%2e/metrics', '/a/%2e%2e/metrics', '/a\\..\\metrics', '/METRICS', '/%2fmetrics', '/a/..%2fmetrics'];
    for (const path of [...paths, ...more]) {
      const answer = curl(`${fleet.server.url}${path}`);
      expect({ path, answer }).not.toEqual({ path, answer: expect.stringContaining('parley_') });
    }
    const whole = curl('--request-target', `${fleet.server.url}/metrics`, fleet.server.url);
    expect(whole).not.toContain('parley_');
    expect((await fetch(`${fleet.server.url}/metrics`)).status).toBe(404);
  });

  test('receive a large file as a stream, and return it unchanged', async () => {
    const bytes = someBytes(24 * 1_048_576);
    const form = Buffer.concat([openForm(filePart(bytes)), Buffer.from(formEnd)]);
    const connection = await Connection.to(ada.url);
    await connection.write(headOf(ada, uploading, form.length));
    await connection.write(form.subarray(0, form.length / 2));
    // A proxy that kept it until its end would not have called a node yet.
    await eventually('a node has begun to take it in', async () =>
      fleet.server.engine.get('SELECT 1 AS found FROM files WHERE sha256 IS NULL'),
    );
    await connection.write(form.subarray(form.length / 2));
    const { status, body } = await connection.answer();
    connection.hangUp();
    const { file_id } = body.file as { file_id: number };
    expect(status).toBe(200);
    const download = await fetch(`${ada.url}/api/files.php?action=download&file_id=${file_id}`, {
      headers: { authorization: `Bearer ${ada.token}` },
    });
    expect(sha256(await download.bytes())).toBe(sha256(bytes));
  });

  test('know the IP of the client, whatever headers it sends', async () => {
    const creating = `${fleet.server.url}/api/tokens.php?action=create`;
    for (const claim of ['203.0.113.9', '203.0.113.9, 203.0.113.10', '127.0.0.1']) {
      curl(
        ...['--interface', '127.0.0.7', '-H', `Authorization: Bearer ${ada.token}`, '-H', `X-Forwarded-For: ${claim}`],
        ...['-H', `X-Real-IP: ${claim}`, '-H', `Forwarded: for=${claim}`, '-d', `name=${claim}`, '--fail', creating],
      );
    }
    const noted = await fleet.server.engine.all<{ address: string }>(
      `SELECT address FROM audit WHERE act = 'token_created' AND address IS NOT NULL`,
    );
    expect(noted.map(({ address }) => address)).toEqual(['127.0.0.7', '127.0.0.7', '127.0.0.7']);
  });

  test('survive malformed requests', async () => {
    const chat_id = await group(ada);
    for (let i = 0; i < 6; i++) {
      const connection = await Connection.to(ada.url);
      await connection.write(headOf(ada, uploading, 'chunked'));
      await connection.write(chunk(openForm(filePart('begun'))));
      await connection.write('no length\r\n');
      await connection.closed();
    }
    await sendAll(ada, chat_id, 6);
  });
});

behindProxy('behind the proxy, when a node is told to stop', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    // The proxy asks each second whether a node is ready, and a busy machine may delay several of its questions.
    fleet = await startFleet({ PARLEY_STOP_DELAY: '10' });
  });
  afterAll(() => fleet?.stop());

  test('every request gets a response, and streams continue at the other node', async () => {
    const ada = await fleet.server.user('ada');
    const chat_id = await group(ada);
    const bearer = { authorization: `Bearer ${ada.token}` };
    const streams = [await EventReader.open(streamUrl(ada.url), bearer)];
    // Until some are at each node.
    const areAll = async (node: Node) => (await node.number('parley_streams')) % streams.length === 0;
    while (await areAll(fleet.nodes[0])) streams.push(await EventReader.open(streamUrl(ada.url), bearer));
    let isOver = false;
    let sent = 0;
    const senders = Array.from({ length: 4 }, async () => {
      // Each at once after the other, so that connections are nearly always in use when the node lets go of them.
      for (; !isOver; sent++) await ada.ok('messages.send_message', { chat_id, content: 'to whoever is there' });
    });
    await eventually('some are sent', async () => sent > 20 || undefined);
    await fleet.nodes[0].kill('SIGTERM');
    isOver = true;
    await Promise.all(senders);
    const heard = streams.map(async (stream) => {
      if (stream.end === undefined) return (await stream.untilTold(sent)).eventIds;
      const again = { ...bearer, 'last-event-id': stream.lastEventId ?? '' };
      const rest = await EventReader.open(streamUrl(ada.url), again);
      await rest.until('all is told', () => stream.eventIds.length + rest.eventIds.length >= sent);
      return [...stream.eventIds, ...rest.eventIds];
    });
    expect(new Set(streams.map(({ end }) => end))).toEqual(new Set(['whole', undefined]));
    const { events } = await ada.ok('events.list', { chat_id, events: ['new_message'], limit: 200 });
    for (const ids of await Promise.all(heard)) {
      expect(ids).toHaveLength(sent);
      expect(ids.slice(0, 200)).toEqual(events.map(({ event_id }) => event_id).slice(0, sent));
    }
  });
});

behindProxy('behind the proxy, when a node is killed', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet();
  });
  afterAll(() => fleet?.stop());

  test('the other goes on, nothing is sent twice, and it is back when it is started again', async () => {
    const [, second] = fleet.nodes;
    const ada = await fleet.server.user('ada');
    const chat_id = await group(ada);
    await second.kill('SIGKILL');
    for (let i = 0; i < 4; i++) await ada.ok('users.me', {});
    // The Caddy of Debian 12 gives up on a POST that it could not deliver, until it has noticed that the node is gone.
    await sendWithRetries(ada, chat_id, 30);
    const { messages } = await ada.ok('messages.get_messages', { chat_id, limit: 200 });
    expect(messages.map(({ content }) => content)).toEqual(Array.from({ length: 30 }, (_, i) => `message ${i}`));
    // With this many requests, a proxy that still uses the node would hit it.
    await eventually('every request is accepted', async () => {
      const answers = await Promise.all(
        Array.from({ length: 30 }, () => ada.call('messages.mark_read', { chat_id, message_id: 1 })),
      );
      return answers.every(({ status }) => status === 200) || undefined;
    });
    await sendAll(ada, chat_id, 10);
    await second.start();
    const isBack = async () => {
      await ada.ok('users.me', {});
      return (await second.answered('users.me')) > 0 || undefined;
    };
    await eventually('it gets requests again', isBack);
  });
});

behindProxy('behind the proxy, when a node cannot reach its database', () => {
  let fleet: Fleet;
  let wayToDatabase: Forwarder;
  beforeAll(async () => {
    const { DATABASE_URL = '' } = await freshEnvironment('postgres');
    wayToDatabase = await Forwarder.before(Number(new URL(DATABASE_URL).port));
    const around = DATABASE_URL.replace(/:\d+\//, `:${wayToDatabase.port}/`);
    fleet = await startFleet({ DATABASE_URL }, { DATABASE_URL: around });
  });
  afterAll(() => fleet?.stop());

  test('only the other is asked', async () => {
    const ada = await fleet.server.user('ada');
    const chat_id = await group(ada);
    wayToDatabase.stop();
    const isLeftOut = async () => {
      // With this many requests, a proxy that still uses the node would hit it.
      const answers = await Promise.all(Array.from({ length: 40 }, () => ada.call('chats.list', {})));
      return answers.every(({ status }) => status === 200) || undefined;
    };
    await eventually('it gets no requests any more', isLeftOut);
    await sendAll(ada, chat_id, 20);
    expect((await fetch(`${fleet.nodes[1].url}/readyz`)).status).toBe(503);
  });
});

behindProxy('behind the proxy, when no node is left', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet();
  });
  afterAll(() => fleet?.stop());

  test('it answers in their place', async () => {
    const ada = await fleet.server.user('ada');
    await Promise.all(fleet.nodes.map((node) => node.kill('SIGTERM')));
    const [reply, page] = await Promise.all([
      request(`${ada.url}/api/users.php?action=me`, { headers: { authorization: `Bearer ${ada.token}` } }),
      fetch(`${ada.url}/sign-in`),
    ]);
    expectRefusal(reply, 'unavailable');
    expect(reply.headers.get('retry-after')).toBe('1');
    expect({
      status: page.status,
      type: page.headers.get('content-type'),
      text: await page.text(),
    }).toEqual({
      status: 503,
      type: 'text/html; charset=utf-8',
      text: expect.stringMatching(/^<!doctype html>.*Parley is restarting.*<a href="">Try again<\/a>.*<\/html>$/),
    });
  });
});
