import { afterAll, describe, expect, test } from 'bun:test';
import { type AddressInfo, createServer, connect as dial } from 'node:net';
import fc from 'fast-check';
import type { Engine } from '../../store/engine/engine.ts';
import { type LeaseKey, transferLease } from '../../store/webhooks/endpoint-state.ts';
import type { NodeRow } from '../../store/webhooks/nodes.ts';
import { transfers } from '../../webhooks/leases.ts';
import { Client } from '../support/client.ts';
import { type Acknowledged, deliveryFaults, sayFaults } from '../support/delivery-check.ts';
import { type Environment, freshEnvironment, onPostgres } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { type Endpoint, receiverFor } from '../support/receiver.ts';
import { attach, type ServerProcess, spawnServer, startServer, type TestServer } from '../support/server.ts';

describe('the share of a process', () => {
  const node = (owner: string, held: number): NodeRow => ({ owner, held });

  test('is kept, and a little more', () => {
    expect(transfers([], 'a')).toEqual([]);
    expect(transfers([node('a', 60)], 'a')).toEqual([]);
    expect(transfers([node('a', 2), node('b', 0)], 'a')).toEqual([]);
    expect(transfers([node('a', 24), node('b', 18), node('c', 18)], 'a')).toEqual([]);
    expect(transfers([node('a', 20), node('b', 40), node('c', 0)], 'a')).toEqual([]);
  });

  test('is kept by a server with much more, and the server with the fewest gets the rest', () => {
    const given = Map.groupBy(transfers([node('a', 60), node('b', 0), node('c', 0)], 'a'), (to) => to);
    expect([given.get('b')?.length, given.get('c')?.length]).toEqual([20, 20]);
    expect(transfers([node('a', 9), node('b', 5), node('c', 3)], 'a')).toEqual(['c', 'c', 'b']);
  });

  test('is about the same for all after each has transferred, in any order', () => {
    const counts = fc.array(fc.nat(100), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(counts, (held) => {
        const nodes = new Map(held.map((count, i) => [`node ${i}`, count]));
        const rows = () => [...nodes].map(([owner, count]) => node(owner, count));
        for (const owner of nodes.keys()) {
          for (const to of transfers(rows(), owner)) {
            nodes.set(owner, (nodes.get(owner) ?? 0) - 1);
            nodes.set(to, (nodes.get(to) ?? 0) + 1);
          }
        }
        const share = Math.ceil(held.reduce((sum, count) => sum + count, 0) / held.length);
        for (const { owner, held } of rows()) {
          expect(held).toBeLessThanOrEqual(share * 1.25 + 1);
          expect(transfers(rows(), owner)).toEqual([]);
        }
      }),
    );
  });
});

/** A way to a database on which every answer takes a little while, and never the same. */
async function slowWay(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const server = createServer((near) => {
    const far = dial(Number(port), hostname);
    near.pipe(far);
    let last = Promise.resolve();
    far.on('data', (part) => {
      last = last.then(() => Bun.sleep(Math.random() * 10)).then(() => void near.write(part));
    });
    for (const socket of [near, far]) {
      socket.on('error', () => {});
      socket.on('close', () => [near, far].map((end) => end.destroy()));
    }
  });
  afterAll(() => void server.close());
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  return url.replace(/:\d+\//, `:${(server.address() as AddressInfo).port}/`);
}

/** Sends to chats one after the other through whichever process is named, until it is told to stop. */
class Traffic {
  readonly acknowledged: Acknowledged[] = [];
  readonly chats: readonly number[];
  readonly #ada: Client;
  through: { readonly url: string };
  #sending = true;
  readonly #done: Promise<unknown>;

  constructor(through: { url: string }, ada: Client, chats: readonly number[], everyMs: number) {
    this.through = through;
    this.#ada = ada;
    this.chats = chats;
    this.#done = Promise.all(chats.map((chat_id) => this.#send(chat_id, everyMs)));
  }

  /** One after the other in each chat: a message that is not acknowledged is sent again under its key. */
  async #send(chat_id: number, everyMs: number): Promise<void> {
    for (let i = 0; this.#sending; i++) {
      const content = `${i}`;
      const key = { 'idempotency-key': `${chat_id}/${i}` };
      for (let messageId: number | undefined; messageId === undefined; ) {
        const client = new Client(this.through.url, this.#ada.token, this.#ada.userId);
        messageId = await client.ok('messages.send_message', { chat_id, content }, key).then(
          ({ message }) => message.message_id,
          () => undefined,
        );
        if (messageId !== undefined) this.acknowledged.push({ chatId: chat_id, messageId, content });
        await Bun.sleep(everyMs);
      }
    }
  }

  async stop(): Promise<void> {
    this.#sending = false;
    await this.#done;
  }
}

async function scene(server: TestServer, chatCount: number, endpoints: readonly Endpoint[]) {
  const ada = await server.user('ada');
  const chats: number[] = [];
  for (let i = 0; i < chatCount; i++) {
    chats.push((await ada.ok('messages.create_group', { name: `g${i}`, participants: [] })).group.chat_id);
  }
  const webhookIds: number[] = [];
  for (const { url } of endpoints) {
    const { webhook } = await ada.ok('webhooks.register', { url, events: ['new_message'], secret: 's' });
    webhookIds.push(webhook.webhook_id);
  }
  return { ada, chats, webhookIds };
}

const faultsOf = (webhookIds: readonly number[], acknowledged: readonly Acknowledged[], endpoints: Endpoint[]) => {
  const received = endpoints.flatMap(({ arrivals }, i) =>
    arrivals.map(({ eventId, body }) => ({ webhookId: webhookIds[i] ?? 0, eventId, body, accepted: true })),
  );
  return deliveryFaults(webhookIds, acknowledged, received);
};

const untilSettled = (client: Client, webhook_id: number) =>
  eventually('everything is settled', async () => {
    const { webhook } = await client.ok('webhooks.get', { webhook_id });
    return webhook.oldest_undelivered_age === null ? webhook : undefined;
  });

/** How many webhooks each process drives, by the name that it has in its leases. */
async function shares(engine: Engine): Promise<Map<string, number>> {
  const rows = await engine.all<{ owner: string; held: number }>(
    `SELECT owner, count(*) AS held FROM endpoint_state WHERE owner IS NOT NULL AND lease_expires_at >= ${engine.dialect.now} GROUP BY owner`,
  );
  return new Map(rows.map(({ owner, held }) => [owner, held]));
}

onPostgres('several processes on one database', () => {
  const receiver = receiverFor();
  const there = new Set<TestServer>();
  const killed: ServerProcess[] = [];
  afterAll(async () => {
    for (const server of there) await server.stop();
    for (const one of killed) await one.kill('SIGKILL');
  });
  const join = async (env: Environment, sweepMs = 200) => {
    const server = await startServer(env, { sweepMs });
    there.add(server);
    return server;
  };
  const leave = async (server: TestServer) => {
    there.delete(server);
    await server.stop();
  };
  const spawn = async (env: Environment) => {
    const server = await spawnServer(env);
    killed.push(server);
    return server;
  };

  test('share what one of them dispatches, also when one is killed, joins or stops; order holds all the while', async () => {
    const env = await freshEnvironment('postgres');
    const doomed = await spawn(env);
    const setUp = await attach(doomed.url, env);
    const [one, two] = [await join(env), await join(env)];
    const endpoints = Array.from({ length: 24 }, () => receiver().endpoint(() => ({ delayMs: Math.random() * 10 })));
    const { ada, chats, webhookIds } = await scene(setUp, 3, endpoints);
    const { engine } = one;
    const inShares = (count: number, without: Iterable<string> = []) =>
      eventually(`${count} processes drive about as many webhooks each`, async () => {
        const held = await shares(engine);
        for (const owner of without) if (held.has(owner)) return undefined;
        const most = (24 / count) * 1.25 + 1;
        const isShared = held.size === count && [...held.values()].every((n) => n <= most);
        const all = [...held.values()].reduce((sum, n) => sum + n, 0);
        return isShared && all === 24 ? held : undefined;
      });

    const traffic = new Traffic(doomed, ada, chats, 40);
    const first = await inShares(3);
    // The remaining servers take over its webhooks.
    await doomed.kill('SIGKILL');
    traffic.through = one;
    const second = await inShares(2);
    const gone = [...first.keys()].filter((owner) => !second.has(owner));
    expect(gone).toHaveLength(1);
    const late = await join(env);
    const third = await inShares(3, gone);
    const [joined = ''] = [...third.keys()].filter((owner) => !second.has(owner));
    const held = await engine.get<LeaseKey & { owner: string }>(
      'SELECT webhook_id, lease_number, owner FROM endpoint_state WHERE owner IS NOT NULL LIMIT 1',
    );
    if (!held) throw new Error('no webhook is driven');
    // One that has left meanwhile gets nothing: its webhooks would wait until the lease expires.
    expect(await engine.write((tx) => transferLease(tx, held.owner, held, 'a process that has left'))).toBe(false);
    await leave(late);
    expect([...(await shares(engine)).keys()]).not.toContain(joined);
    await inShares(2, [joined]);
    await eventually('much was sent', async () => traffic.acknowledged.length > 100 || undefined);
    await traffic.stop();

    const faults = () => faultsOf(webhookIds, traffic.acknowledged, endpoints);
    const everything = async () => faults().every(({ broken }) => broken !== 'lost') || undefined;
    await eventually('everything has arrived', everything).catch(() => {});
    expect(sayFaults(faults())).toBe('');
    await setUp.stop();
    await leave(one);
    await leave(two);
  });

  test('take over from one that is killed, in order', async () => {
    const env = await freshEnvironment('postgres');
    const doomed = await spawn(env);
    const setUp = await attach(doomed.url, env);
    const endpoints = [receiver().endpoint(() => ({ delayMs: 10 })), receiver().endpoint(() => ({ delayMs: 30 }))];
    const { ada, chats, webhookIds } = await scene(setUp, 4, endpoints);
    await setUp.stop();
    const two = await join(env);
    const acknowledged: Acknowledged[] = [];
    const sayEverywhere = (client: Client, count: number) =>
      Promise.all(
        chats.map(async (chatId) => {
          for (let i = 0; i < count; i++) {
            const { message } = await client.ok('messages.send_message', { chat_id: chatId, content: `${i}` });
            acknowledged.push({ chatId, messageId: message.message_id, content: `${i}` });
          }
        }),
      );
    await sayEverywhere(ada, 30);
    await endpoints[0]?.arrived(20);
    await doomed.kill('SIGKILL');
    await sayEverywhere(new Client(two.url, ada.token, ada.userId), 10);
    for (const endpoint of endpoints) {
      await eventually('all is there', async () => new Set(endpoint.eventIds).size === 160 || undefined);
    }
    expect(sayFaults(faultsOf(webhookIds, acknowledged, endpoints))).toBe('');
    await leave(two);
  });

  test('deliver what another has made of the log as soon as they find that they were overtaken', async () => {
    const env = await freshEnvironment('postgres');
    // Sweeps are rarer than this test is long.
    const [one, two] = [await join(env, 60_000), await join(env, 60_000)];
    const endpoint = receiver().endpoint();
    const { ada, chats } = await scene(one, 1, [endpoint]);
    const [chat_id = 0] = chats;
    const say = (server: TestServer, content: string) =>
      new Client(server.url, ada.token, ada.userId).ok('messages.send_message', { chat_id, content });
    await say(one, 'first');
    await endpoint.arrived(1);
    await say(two, 'second');
    await say(two, 'third');
    // The webhook is not told of this, but whoever drives it looks at the log.
    await ada.ok('messages.create_group', { name: 'elsewhere', participants: [] });
    await endpoint.arrived(3);
    expect(endpoint.contents).toEqual(['first', 'second', 'third']);
    await leave(one);
    await leave(two);
  });

  test('take in what others have made once and in order, however often they look while it is made', async () => {
    const env = await freshEnvironment('postgres');
    // A slow connection makes reads out of date when they arrive.
    const far = { ...env, DATABASE_URL: await slowWay(env.DATABASE_URL ?? '') };
    const servers = [await join(env, 3), await join(far, 3), await join(far, 3)];
    const [one] = servers;
    if (!one) throw new Error('there are three servers');
    const endpoints = Array.from({ length: 8 }, () => receiver().endpoint());
    const { ada, chats, webhookIds } = await scene(one, 3, endpoints);
    const clients = servers.map(({ url }) => new Client(url, ada.token, ada.userId));
    const sent = Array.from({ length: 40 }, (_, i) => `${i}`);
    const send = async (chat_id: number) => {
      for (const [i, content] of sent.entries()) {
        await clients[(i + chat_id) % clients.length]?.ok('messages.send_message', { chat_id, content });
      }
    };
    await Promise.all(chats.map(send));
    for (const endpoint of endpoints) await endpoint.arrived(chats.length * sent.length);
    for (const webhookId of webhookIds) await untilSettled(ada, webhookId);
    for (const server of servers) await leave(server);
    for (const { arrivals } of endpoints) {
      const told = Map.groupBy(arrivals, ({ data }) => data.chat_id);
      for (const chat_id of chats) expect(told.get(chat_id)?.map(({ data }) => data.content)).toEqual(sent);
    }
  });

  test('one that stood still writes down nothing of its last request, and sends nothing more', async () => {
    const env = await freshEnvironment('postgres');
    const frozen = await spawn(env);
    const setUp = await attach(frozen.url, env);
    const answer = Promise.withResolvers<void>();
    // The first request hangs and is refused in the end; what others ask is granted.
    const endpoint = receiver().endpoint(({ data }) =>
      data.content === 'first' && endpoint.arrivals.length === 1 ? { status: 500, after: answer.promise } : 200,
    );
    const { ada, chats, webhookIds } = await scene(setUp, 1, [endpoint]);
    const [chat_id = 0] = chats;
    const [webhook_id = 0] = webhookIds;
    await ada.ok('messages.send_message', { chat_id, content: 'first' });
    await endpoint.arrived(1);
    for (const content of ['second', 'third']) await ada.ok('messages.send_message', { chat_id, content });
    const two = await join(env);
    const elsewhere = new Client(two.url, ada.token, ada.userId);

    frozen.process.kill('SIGSTOP');
    await elsewhere.ok('messages.send_message', { chat_id, content: 'fourth' });
    await endpoint.arrived(5);
    const sent = ['first', 'first', 'second', 'third', 'fourth'];
    expect(endpoint.contents).toEqual(sent);
    await untilSettled(elsewhere, webhook_id);
    answer.resolve();
    frozen.process.kill('SIGCONT');
    // It answers once it has looked after all webhooks, and writes down what it has to when it stops.
    await ada.ok('webhooks.update', { webhook_id, status: 'active' });
    await frozen.kill('SIGTERM');
    expect(endpoint.contents).toEqual(sent);
    expect(await untilSettled(elsewhere, webhook_id)).toMatchObject({ status: 'active', down_since: null });
    const { deliveries } = await elsewhere.ok('webhooks.deliveries', { webhook_id });
    for (const { state, attempt_count, last_status } of deliveries) {
      expect({ state, attempt_count, last_status }).toEqual({ state: 'delivered', attempt_count: 1, last_status: 200 });
    }
    await setUp.stop();
    await leave(two);
  });
});
