import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import type { Presence } from '@parley/contract';
import { temporaryFolder } from '../support/cleanup.ts';
import { Client } from '../support/client.ts';
import { type Environment, freshEnvironment } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { type Nats, startNats } from '../support/nats.ts';
import { onCluster } from '../support/on-cluster.ts';
import { users } from '../support/people.ts';
import { spawnServer, startServer, type TestServer } from '../support/server.ts';
import { type EventReader, groupOf, listen, metric } from '../support/streams.ts';

onCluster('presence at several servers', () => {
  let nats: Nats;
  let env: () => Environment;
  let a: TestServer;
  let b: TestServer;
  let ada: Client;
  let bob: Client;
  let readers: EventReader[] = [];
  /** Added to the clock of the first two servers. */
  let passed = 0;
  const monotonic = () => performance.now() + passed;
  beforeAll(async () => {
    nats = await startNats();
    const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64');
    const shared = { ...(await freshEnvironment('postgres')), NATS_URL: nats.url, PARLEY_SECRET_KEY: key };
    env = () => ({ ...shared, PARLEY_DATA: temporaryFolder() });
    [a, b] = [await startServer(env(), { monotonic }), await startServer(env(), { monotonic })];
    for (const server of [a, b]) await isConnected(server, true);
  });
  afterAll(async () => {
    await Promise.all([a?.stop(), b?.stop()]);
    await nats?.stop();
  });
  beforeEach(async () => {
    ({ ada, bob } = await users(a, 'ada', 'bob'));
    await groupOf(ada, bob);
  });
  afterEach(() => {
    for (const reader of readers) reader.breakOff();
    readers = [];
  });
  /** Lets the clock of the servers run five times as fast: slow enough for them to hear of each other all the time. */
  const hurry = async () => {
    await Bun.sleep(100);
    passed += 500;
  };
  const at = ({ url }: { url: string }, { token, userId }: Client): Client => new Client(url, token, userId);
  const isConnected = (server: { url: string }, connected: boolean) =>
    eventually(
      'NATS',
      async () => (await metric(server.url, 'parley_nats_connected')) === Number(connected) || undefined,
    );
  const follow = async (server: { url: string }, who: Client) => {
    const reader = await listen(at(server, who));
    readers.push(reader);
    return reader;
  };
  const of = async (who: Client, asking: Client, server: { url: string }) =>
    (await at(server, asking).ok('users.presence', { user_ids: [who.userId] })).presence[0]?.presence;
  const untilKnown = (server: { url: string }, presence: Presence) =>
    eventually(`it is ${presence}`, async () => (await of(bob, ada, server)) === presence || undefined);
  const toldOf = (stream: EventReader, who: Client) =>
    stream.presence.filter(({ data }) => data.user_id === who.userId).map(({ data }) => data.presence);
  const untilTold = async (stream: EventReader, ...states: Presence[]) => {
    await stream.until(`told of ${states}`, () => toldOf(stream, bob).length >= states.length);
    expect(toldOf(stream, bob)).toEqual(states);
  };

  test('is told at all of them, once to each stream', async () => {
    const [here, there] = [await follow(a, ada), await follow(b, ada)];
    const own = await follow(b, bob);
    for (const stream of [here, there]) await untilTold(stream, 'online');
    passed += 3_000;
    // A call may arrive at another server than the stream.
    await at(a, bob).ok('users.set_presence', { presence: 'away' });
    for (const stream of [here, there]) await untilTold(stream, 'online', 'away');
    passed += 3_000;
    await at(a, bob).ok('users.set_presence', { presence: 'online', hidden: true });
    expect([await of(bob, ada, a), await of(bob, ada, b)]).toEqual(['offline', 'offline']);
    for (const stream of [here, there]) await untilTold(stream, 'online', 'away', 'offline');
    passed += 3_000;
    await at(a, bob).ok('users.set_presence', { hidden: false });
    for (const stream of [here, there]) await untilTold(stream, 'online', 'away', 'offline', 'online');
    own.breakOff();
    passed += 3_000;
    await eventually('it is offline', async () => {
      await hurry();
      return toldOf(here, bob).length + toldOf(there, bob).length === 10 || undefined;
    });
    for (const stream of [here, there]) await untilTold(stream, 'online', 'away', 'offline', 'online', 'offline');
  });

  test('does not change for a user who moves from one to another', async () => {
    const streams = [await follow(a, ada), await follow(b, ada)];
    const first = await follow(a, bob);
    for (const stream of streams) await untilTold(stream, 'online');
    await follow(b, bob);
    first.breakOff();
    passed += 3_000;
    await at(a, bob).ok('users.set_presence', { presence: 'away' });
    for (const stream of streams) await untilTold(stream, 'online', 'away');
    passed += 5_000;
    await at(b, bob).ok('users.set_presence', { presence: 'online' });
    for (const stream of streams) await untilTold(stream, 'online', 'away', 'online');
  });

  test('is known to a server that starts later, and forgotten with one that stops', async () => {
    await follow(a, bob);
    await untilKnown(b, 'online');
    const late = await startServer(env(), { monotonic });
    await untilKnown(late, 'online');
    const { cleo } = await users(a, 'cleo');
    await groupOf(ada, cleo);
    await follow(late, cleo);
    const known = async (presence: Presence) => (await of(cleo, ada, b)) === presence || undefined;
    await eventually('cleo is online', () => known('online'));
    await late.stop();
    await eventually('cleo is offline', async () => {
      await hurry();
      return known('offline');
    });
    await untilKnown(b, 'online');
  });

  test('is forgotten with a server that was killed', async () => {
    const killed = await spawnServer(env());
    await follow(killed, bob);
    await untilKnown(b, 'online');
    await killed.kill('SIGKILL');
    await eventually('bob is offline', async () => {
      await hurry();
      return (await of(bob, ada, b)) === 'offline' || undefined;
    });
  });

  test('is right again after NATS was away', async () => {
    const gone = await follow(a, bob);
    await untilKnown(b, 'online');
    await nats.stop();
    for (const server of [a, b]) await isConnected(server, false);
    gone.breakOff();
    const { cleo } = await users(a, 'cleo');
    await groupOf(ada, cleo);
    await follow(a, cleo);
    await nats.start();
    for (const server of [a, b]) await isConnected(server, true);
    await eventually('both are known', async () => {
      await hurry();
      const [first, second] = [await of(bob, ada, b), await of(cleo, ada, b)];
      return (first === 'offline' && second === 'online') || undefined;
    });
  });
});
