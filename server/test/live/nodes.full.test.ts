import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from '@nats-io/transport-node';
import { readSettings } from '../../config.ts';
import { endWithUs, temporaryFolder } from '../support/cleanup.ts';
import { Client } from '../support/client.ts';
import { type Environment, freshEnvironment } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { type Nats, startNats } from '../support/nats.ts';
import { onCluster } from '../support/on-cluster.ts';
import { eventTip, users } from '../support/people.ts';
import { startsInVain, Talking } from '../support/process.ts';
import { quietPort } from '../support/quiet-port.ts';
import { spawnServer, startServer, type TestServer } from '../support/server.ts';
import { type EventReader, groupOf, listen, logged, metric, parsed } from '../support/streams.ts';

const minute = 60_000;

/** Sweeps are rare, so an event that arrives was announced over the bus. */
const told = { sweepMs: 10 * minute };

/** Returns environments of servers on one new database, each with its own folder. */
async function environments(natsUrl: string, more: Environment = {}): Promise<() => Environment> {
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64');
  const env = { ...(await freshEnvironment('postgres')), NATS_URL: natsUrl, PARLEY_SECRET_KEY: key, ...more };
  return () => ({ ...env, PARLEY_DATA: temporaryFolder() });
}

/** The same user at another server. */
const at = ({ url }: { url: string }, { token, userId }: Client): Client => new Client(url, token, userId);

const say = async (by: Client, chat_id: number, content: string) =>
  (await by.ok('messages.send_message', { chat_id, content })).message.message_id;

const isConnected = (server: { url: string }, connected: boolean) =>
  eventually(
    connected ? 'it has found NATS' : 'it has noticed that NATS is away',
    async () => (await metric(server.url, 'parley_nats_connected')) === Number(connected) || undefined,
  );

/** Reads until a message is there. */
const untilContent = (stream: EventReader, content: string) =>
  stream.until(`${content.slice(0, 20)} is told`, ({ contents }) => contents.includes(content));

onCluster('servers on one database that tell each other over NATS', () => {
  let nats: Nats;
  let a: TestServer;
  let b: TestServer;
  let ada: Client;
  let bob: Client;
  let chat_id: number;
  beforeAll(async () => {
    nats = await startNats();
    const env = await environments(nats.url, { PARLEY_CONTENT_LIMIT: '800000', PARLEY_BODY_LIMIT: '4000000' });
    [a, b] = [await startServer(env(), told), await startServer(env(), told)];
    for (const server of [a, b]) await isConnected(server, true);
    ({ ada, bob } = await users(a, 'ada', 'bob'));
    chat_id = await groupOf(ada, bob);
  });
  afterAll(async () => {
    await Promise.all([a?.stop(), b?.stop()]);
    await nats?.stop();
  });

  test('cannot be read, misled or brought down by somebody else who is there', async () => {
    const stranger = await connect({ servers: nats.url.replace('nats://', '') });
    const overheard: { subject: string; text: string; data: Uint8Array }[] = [];
    stranger.subscribe('parley.>', {
      callback: (_, { subject, data }) =>
        void overheard.push({ subject, text: Buffer.from(data).toString('latin1'), data }),
    });
    await stranger.flush();
    const stream = await listen(at(b, bob));
    const before = overheard.length;
    await say(ada, chat_id, 'between us');
    await untilContent(stream, 'between us');
    await eventually('something is overheard', async () => overheard.length > before || undefined);
    expect(overheard.filter(({ text }) => text.includes('between us'))).toEqual([]);
    const prefix = overheard[0]?.subject.split('.').slice(0, 2).join('.');
    const [real] = overheard;
    for (const topic of ['committed', 'signal', 'presence', 'ended', 'webhooks', 'uploads']) {
      for (const lie of ['', 'xx', '{"at":1,"signal":{}}', '0 9007199254740990', '[1,2]', 'x'.repeat(50_000)]) {
        stranger.publish(`${prefix}.${topic}`, lie);
      }
      // A message cannot be replayed under another topic.
      if (real && !real.subject.endsWith(topic)) stranger.publish(`${prefix}.${topic}`, real.data);
    }
    await stranger.flush();
    await say(ada, chat_id, 'still between us');
    await untilContent(stream, 'still between us');
    await stranger.close();
    stream.breakOff();
  });

  test('refuse a message that somebody sends again', async () => {
    const stranger = await connect({ servers: nats.url.replace('nats://', '') });
    const overheard: { subject: string; data: Uint8Array }[] = [];
    stranger.subscribe('parley.>', { callback: (_, { subject, data }) => void overheard.push({ subject, data }) });
    await stranger.flush();
    const streams = [await listen(at(a, ada)), await listen(at(b, ada))];
    const message_id = await say(ada, chat_id, 'read once');
    await bob.ok('messages.mark_read', { chat_id, message_id });
    for (const stream of streams) await stream.until('the signal', ({ signals }) => signals.length > 0);
    const isSignal = ({ subject }: { subject: string }) => subject.endsWith('.signal');
    await eventually('the signal is overheard', async () => overheard.some(isSignal) || undefined);
    // The server that sent it gets it too, under its own name.
    for (const { subject, data } of overheard.filter(isSignal)) stranger.publish(subject, data);
    await stranger.flush();
    for (const server of [a, b]) await say(at(server, ada), chat_id, `the end at ${server.url}`);
    for (const stream of streams) {
      for (const server of [a, b]) await untilContent(stream, `the end at ${server.url}`);
      expect(stream.signals).toHaveLength(1);
      stream.breakOff();
    }
    await stranger.close();
  });

  test('tell streams at one of what was written at the other', async () => {
    const [here, there] = [await listen(at(a, bob)), await listen(at(b, bob))];
    await say(ada, chat_id, 'at the first');
    await say(at(b, ada), chat_id, 'at the second');
    for (const stream of [here, there]) {
      await stream.untilTold(2);
      expect(stream.contents).toEqual(['at the first', 'at the second']);
      expect(parsed(stream.told)).toEqual(await logged(bob, Number(stream.opening.id)));
      stream.breakOff();
    }
  });

  test('tell every event once and in the order of the log while both write, and people come and go', async () => {
    const { cleo } = await users(a, 'cleo');
    const streams: [Client, EventReader][] = [];
    for (const who of [bob, cleo]) for (const server of [a, b]) streams.push([who, await listen(at(server, who))]);
    const writers = [a, b, a, b].map(async (server, n) => {
      for (let i = 0; i < 60; i++) await say(at(server, n < 2 ? ada : bob), chat_id, `${n} ${i}`);
    });
    const moves = (async () => {
      for (let i = 0; i < 20; i++) {
        await at(i % 2 ? a : b, ada).ok('chats.add_participants', { chat_id, participants: [cleo.userId] });
        await at(i % 3 ? a : b, ada).ok('chats.remove_participant', { chat_id, user_id: cleo.userId });
      }
      await ada.ok('chats.add_participants', { chat_id, participants: [cleo.userId] });
    })();
    await Promise.all([...writers, moves]);
    await say(at(b, ada), chat_id, 'the end');
    for (const [who, stream] of streams) {
      await untilContent(stream, 'the end');
      expect(parsed(stream.told)).toEqual(await logged(who, Number(stream.opening.id)));
      stream.breakOff();
    }
  });

  test('pass signals on', async () => {
    const [here, there] = [await listen(at(a, ada)), await listen(at(b, ada))];
    const message_id = await say(ada, chat_id, 'to be read');
    await bob.ok('messages.mark_read', { chat_id, message_id });
    const [one, two] = await Promise.all(
      [here, there].map(async (stream) => {
        await stream.until('the signal', ({ signals }) => signals.length > 0);
        stream.breakOff();
        return stream.signals;
      }),
    );
    expect(one?.map(({ data }) => data)).toEqual([{ chat_id, user_id: bob.userId, message_id }]);
    expect(two).toEqual(one ?? []);
  });

  test('pass signals about deliveries on, once they know who has a stream', async () => {
    const hook = { url: 'http://127.0.0.1:9/hook', events: ['new_message'], secret: 'a secret' };
    const { webhook_id } = (await ada.ok('webhooks.register', hook)).webhook;
    const streams = [await listen(at(a, ada)), await listen(at(b, ada))];
    await eventually('both have the signal', async () => {
      await say(ada, chat_id, 'to be delivered');
      return streams.every(({ deliveryChanges }) => deliveryChanges.length > 0) || undefined;
    });
    for (const stream of streams) {
      expect(stream.deliveryChanges[0]?.data).toEqual({ webhook_id });
      stream.breakOff();
    }
    await ada.ok('webhooks.delete', { webhook_id });
  });

  test('end streams and forget tokens whose access ended at another', async () => {
    const made = await bob.ok('tokens.create', { name: 'spare' });
    const spare = new Client(b.url, made.access_token, bob.userId);
    const [ended, other] = [await listen(spare), await listen(at(b, bob))];
    await bob.ok('tokens.revoke', { token_id: made.token.token_id });
    await ended.untilEnded();
    expect(await spare.refused('users.me', {})).toBe('unauthorized');
    await say(ada, chat_id, 'the other goes on');
    await untilContent(other, 'the other goes on');
    other.breakOff();
  });

  test('deliver events that are too large for one message', async () => {
    const stream = await listen(at(b, bob));
    const large = {
      'more than NATS takes, once it is escaped': `escaped ${'"'.repeat(700_000)}`,
      'nearly as much as it takes': `wide ${'€'.repeat(240_000)}`,
      'far more characters than bytes are allowed for': `long ${'x'.repeat(700_000)}`,
      'line ends that are none': `ends \u2028 and \u2029`,
    };
    for (const content of Object.values(large)) {
      await say(ada, chat_id, content);
      await untilContent(stream, content);
    }
    // Messages that arrive together are committed together.
    await Promise.all(Array.from({ length: 20 }, (_, i) => say(ada, chat_id, `${i} ${'y'.repeat(90_000)}`)));
    await stream.untilTold(24);
    expect(parsed(stream.told)).toEqual(await logged(bob, Number(stream.opening.id)));
    stream.breakOff();
  });

  test('with NATS away tell nothing to each other, and what was missed once it is back', async () => {
    const stream = await listen(at(b, bob));
    await nats.stop();
    for (const server of [a, b]) await isConnected(server, false);
    await say(at(b, ada), chat_id, 'here');
    await untilContent(stream, 'here');
    await say(ada, chat_id, 'elsewhere');
    // Streams of a server are told of its signals without a look at the log.
    await at(b, bob).ok('messages.mark_read', { chat_id });
    await stream.until('the signal', ({ signals }) => signals.length > 0);
    expect(stream.contents).toEqual(['here']);
    // Somebody who has read it at the other server comes here, where it is not known yet.
    const ahead = await listen(at(b, bob), { after: await eventTip(bob) });
    await nats.start();
    for (const server of [a, b]) await isConnected(server, true);
    await untilContent(stream, 'elsewhere');
    await say(ada, chat_id, 'and told again');
    for (const one of [stream, ahead]) {
      await untilContent(one, 'and told again');
      expect(parsed(one.events)).toEqual(await logged(bob, Number(one.opening.id)));
      one.breakOff();
    }
    expect(ahead.contents).toEqual(['and told again']);
  });
});

onCluster('servers whose NATS is away', () => {
  test('notice by themselves what others wrote, and whose access has ended', async () => {
    const nats = await startNats();
    const env = await environments(nats.url);
    const [a, b] = [await startServer(env(), { sweepMs: 300 }), await startServer(env(), { sweepMs: 300 })];
    const { ada, bob } = await users(a, 'ada', 'bob');
    const chat_id = await groupOf(ada, bob);
    await nats.stop();
    for (const server of [a, b]) await isConnected(server, false);
    const made = await bob.ok('tokens.create', { name: 'spare' });
    const [stream, ended] = [await listen(at(b, bob)), await listen({ url: b.url, token: made.access_token })];
    for (const content of ['1', '2', '3']) await say(ada, chat_id, content);
    await untilContent(stream, '3');
    expect(stream.contents).toEqual(['1', '2', '3']);
    await bob.ok('tokens.revoke', { token_id: made.token.token_id });
    await ended.untilEnded();
    stream.breakOff();
    await Promise.all([a.stop(), b.stop()]);
  });

  test('start nevertheless, say so, and find it when it comes', async () => {
    const nats = await startNats();
    await nats.stop();
    const env = await environments(nats.url, { LOG_LEVEL: 'info' });
    const process = new Talking(env());
    const url = await process.url();
    const there = await startServer({ ...env(), LOG_LEVEL: 'off' }, told);
    await eventually('it says so', async () => process.stdout.includes('nats_disconnected') || undefined);
    const { ada, bob } = await users(there, 'ada', 'bob');
    const chat_id = await groupOf(ada, bob);
    const stream = await listen(at(there, bob));
    await nats.start();
    for (const server of [{ url }, there]) await isConnected(server, true);
    await say(at({ url }, ada), chat_id, 'from the other process');
    await untilContent(stream, 'from the other process');
    stream.breakOff();
    process.kill('SIGTERM');
    const { code, stdout } = await process.end();
    expect(code).toBe(0);
    expect(stdout.match(/nats_disconnected/g)).toHaveLength(1);
    expect(stdout).toContain('nats_connected');
    await Promise.all([there.stop(), nats.stop()]);
  });
});

onCluster('two processes', () => {
  test('tell each other over NATS', async () => {
    const nats = await startNats();
    const env = await environments(nats.url);
    const [a, b] = await Promise.all([spawnServer(env()), spawnServer(env())]);
    const beside = await startServer(env(), told);
    const { ada, bob } = await users(beside, 'ada', 'bob');
    const chat_id = await groupOf(at(a, ada), bob);
    for (const server of [a, b]) await isConnected(server, true);
    const stream = await listen(at(b, bob));
    for (const content of ['1', '2', '3']) await say(at(a, ada), chat_id, content);
    await stream.untilTold(3);
    expect(stream.contents).toEqual(['1', '2', '3']);
    stream.breakOff();
    await Promise.all([a.kill('SIGTERM'), b.kill('SIGTERM'), beside.stop()]);
    await nats.stop();
  });
});

onCluster('services that share a NATS', () => {
  test('do not hear each other where their keys differ', async () => {
    const nats = await startNats();
    const services = await Promise.all([environments(nats.url), environments(nats.url)]);
    const made = await Promise.all(
      services.map(async (env) => {
        const [server, beside] = [await startServer(env(), told), await startServer(env(), told)];
        for (const each of [server, beside]) await isConnected(each, true);
        const ada = await server.user('ada');
        const bob = await server.user('bob');
        const chat_id = await groupOf(ada, bob);
        await say(ada, chat_id, 'first');
        return { servers: [server, beside], ada, bob, chat_id, stream: await listen(at(beside, bob)) };
      }),
    );
    const [one, two] = made;
    if (!one || !two) throw new Error('there are two');
    // The same in all but the key: what one hears of the other would be told as its own.
    expect([one.chat_id, one.stream.opening.id]).toEqual([two.chat_id, two.stream.opening.id]);
    const message_id = await say(one.ada, one.chat_id, 'only here');
    await one.bob.ok('messages.mark_read', { chat_id: one.chat_id, message_id });
    await one.stream.untilTold(2);
    // NATS passes on in order: what it passes on now comes after what it has passed on.
    await say(two.ada, two.chat_id, 'only there');
    await two.stream.untilTold(1);
    expect(two.stream.lines).toEqual(['new_message only there']);
    for (const { stream, servers } of made) {
      stream.breakOff();
      for (const server of servers) await server.stop();
    }
    await nats.stop();
  });

  /** One that asks for a name and a password. */
  async function guardedNats(user: string, password: string): Promise<{ host: string; stop: () => void }> {
    const port = await quietPort();
    const path = `${process.env.PATH}:/usr/sbin:/usr/local/bin`;
    const command = [Bun.which('nats-server', { PATH: path }) ?? '', '-a', '127.0.0.1', '-p', String(port)];
    const child = Bun.spawn([...command, '--user', user, '--pass', password], {
      stdout: 'ignore',
      stderr: 'ignore',
      cwd: temporaryFolder(),
    });
    endWithUs(child);
    return { host: `127.0.0.1:${port}`, stop: () => child.kill() };
  }

  test('that requires a password: a wrong one is logged, and the server serves', async () => {
    const nats = await guardedNats('parley', 'hunter2');
    const right = await environments(`nats://parley:hunter2@${nats.host}`);
    const wrong = (await environments(`nats://parley:hunter3@${nats.host}`, { LOG_LEVEL: 'info' }))();
    const [good, process] = [await startServer(right(), told), new Talking(wrong)];
    await isConnected(good, true);
    const url = await process.url();
    const said = await eventually('it says so', async () =>
      process.stdout.split('\n').find((line) => line.includes('nats_disconnected')),
    );
    expect(said.toLowerCase()).toContain('authorization');
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    process.kill('SIGTERM');
    const { code, stdout, stderr } = await process.end();
    expect(code).toBe(0);
    for (const text of [stdout, stderr]) expect(text).not.toContain('hunter');
    await good.stop();
    nats.stop();
  });
});

describe('a server prints one line, and exits with code 1,', () => {
  const startsWith = async (extra: Environment) => {
    const stderr = await startsInVain({ ...(await freshEnvironment('sqlite')), ...extra });
    expect(stderr).toContain('NATS_URL');
    expect(stderr).not.toContain('hunter2');
    return stderr;
  };

  test('that NATS needs PostgreSQL', async () => {
    const said = await startsWith({ NATS_URL: 'nats://parley:hunter2@127.0.0.1:4222' });
    expect(said).toContain('DATABASE_URL');
    expect(said).toContain('PostgreSQL');
  });

  test('that an address of NATS is none, without showing it', async () => {
    expect(await startsWith({ NATS_URL: 'http://parley:hunter2@127.0.0.1:4222' })).toContain('nats://host:4222');
    const others = [
      ...['hunter2', 'nats://', 'nats:hunter2', 'nats://parley:hunter2@127.0.0.1:99999', 'nats://127.0.0.1,hunter2'],
      ...['nats://parley:hunter2%zz@127.0.0.1', 'nats://parley:hunter2@127.0.0.1/path', 'nats://127.0.0.1,'],
    ];
    const read = (NATS_URL: string) => () => readSettings({ DATABASE_URL: 'postgres://127.0.0.1/parley', NATS_URL });
    for (const one of others) {
      expect(read(one)).toThrow('NATS_URL must be an address such as nats://host:4222');
      expect(read(one)).not.toThrow('hunter2');
    }
  });
});
