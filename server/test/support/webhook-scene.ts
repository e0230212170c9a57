import { afterAll, beforeAll, expect } from 'bun:test';
import type { ClientOutput } from '@parley/contract';
import { allChats } from '../../store/webhooks/backlogs.ts';
import { Client } from './client.ts';
import type { EngineName, Environment } from './engines.ts';
import { eventually } from './eventually.ts';
import { users } from './people.ts';
import { quietPort } from './quiet-port.ts';
import { type Endpoint, type Receiver, receiverFor } from './receiver.ts';
import { serverFor, type TestServer } from './server.ts';

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** The sweep interval, so that a server without a wake-up notices changes soon. */
export const sweepMs = 20;

/** The clocks of a server. They move only when a test moves them. */
export class Clock {
  at = Date.now();
  #steadyAt = minute;
  readonly now = () => this.at;
  readonly monotonic = () => this.#steadyAt;

  pass(ms: number): void {
    this.at += ms;
    this.#steadyAt += ms;
  }

  /** Moves to an ISO time of the API. */
  moveTo(time: string | null, plusMs = 0): void {
    if (time === null) throw new Error('there is no such time');
    this.pass(Date.parse(time) + plusMs - this.at);
  }
}

type Webhook = ClientOutput<'webhooks.get'>['webhook'];
type Delivery = ClientOutput<'webhooks.deliveries'>['deliveries'][number];

/** A user with chats, and a webhook that subscribes to their messages. */
export class Scene {
  readonly ada: Client;
  readonly chats: readonly number[];

  constructor(ada: Client, chats: readonly number[]) {
    this.ada = ada;
    this.chats = chats;
  }

  static async set(server: TestServer, chatCount: number): Promise<Scene> {
    const { ada } = await users(server, 'ada');
    const create = async (i: number) =>
      (await ada.ok('messages.create_group', { name: `chat ${i}`, participants: [] })).group.chat_id;
    return new Scene(ada, await Promise.all(Array.from({ length: chatCount }, (_, i) => create(i))));
  }

  /** The same at another server on the same database. */
  at({ url }: TestServer): Scene {
    return new Scene(new Client(url, this.ada.token, this.ada.userId), this.chats);
  }

  chat(index: number): number {
    const chatId = this.chats[index];
    if (chatId === undefined) throw new Error(`there is no chat ${index}`);
    return chatId;
  }

  async hook({ url }: { url: string }, events = ['new_message']): Promise<number> {
    const { webhook } = await this.ada.ok('webhooks.register', { url, events, secret: 'a secret' });
    return webhook.webhook_id;
  }

  async say(chat: number, ...contents: string[]): Promise<void> {
    for (const content of contents) await this.ada.ok('messages.send_message', { chat_id: this.chat(chat), content });
  }

  /** Sends `count` messages to every chat, the chats concurrently. */
  async sayEverywhere(count: number, prefix = ''): Promise<void> {
    await Promise.all(this.chats.map((_, chat) => this.say(chat, ...numbers(count, prefix))));
  }

  async webhook(webhookId: number): Promise<Webhook> {
    return (await this.ada.ok('webhooks.get', { webhook_id: webhookId })).webhook;
  }

  async setStatus(webhookId: number, status: 'active' | 'paused'): Promise<void> {
    await this.ada.ok('webhooks.update', { webhook_id: webhookId, status });
  }

  /** Returns the first deliveries, oldest first. */
  async deliveries(webhookId: number, state?: Delivery['state']): Promise<Delivery[]> {
    const filter = state === undefined ? {} : { state };
    const { deliveries } = await this.ada.ok('webhooks.deliveries', { webhook_id: webhookId, limit: 200, ...filter });
    return deliveries.toReversed();
  }

  /** Returns the attempts at all deliveries. */
  async attempts(webhookId: number): Promise<number> {
    return (await this.deliveries(webhookId)).reduce((sum, { attempt_count }) => sum + attempt_count, 0);
  }

  async untilAttempts(webhookId: number, count: number): Promise<void> {
    await eventually(`${count} attempts`, async () => ((await this.attempts(webhookId)) >= count ? true : undefined));
  }

  /** Waits until all deliveries are settled. The newest events may not have deliveries yet. */
  async untilSettled(webhookId: number): Promise<void> {
    await eventually('everything is settled', async () => {
      const { oldest_undelivered_age } = await this.webhook(webhookId);
      return oldest_undelivered_age === null || undefined;
    });
  }

  /** Checks that an endpoint got the messages of every chat once and in order. */
  expectAllOnce({ arrivals }: Endpoint, expected: readonly string[]): void {
    const told = Map.groupBy(arrivals, ({ data }) => data.chat_id);
    for (const chatId of this.chats) {
      const contents = (told.get(chatId) ?? []).map(({ data }) => data.content);
      expect(contents).toEqual([...expected]);
    }
  }
}

export const numbers = (count: number, prefix = '') => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

/**
 * A webhook of another user. Its deliveries follow everything that the server does by itself at this moment: an effect that
 * is missing when they arrive does not happen.
 */
export class Sentinel {
  readonly #scene: Scene;
  readonly #endpoint: Endpoint;
  readonly #webhookId: number;

  private constructor(scene: Scene, endpoint: Endpoint, webhookId: number) {
    this.#scene = scene;
    this.#endpoint = endpoint;
    this.#webhookId = webhookId;
  }

  static async post(server: TestServer, receiver: Receiver): Promise<Sentinel> {
    const scene = await Scene.set(server, 1);
    const endpoint = receiver.endpoint();
    return new Sentinel(scene, endpoint, await scene.hook(endpoint));
  }

  /** Waits until the server has swept all webhooks and has recorded a delivery after that. */
  async passes(): Promise<void> {
    await this.#scene.setStatus(this.#webhookId, 'active');
    await this.isTold();
  }

  /** Waits until the server has recorded a delivery, without a sweep of other webhooks. */
  async isTold(): Promise<void> {
    const count = this.#endpoint.arrivals.length + 1;
    await this.#scene.say(0, String(count));
    await this.#endpoint.arrived(count);
    await this.#scene.untilSettled(this.#webhookId);
  }
}

/** Creates one for all tests of a suite. Call it after `serverFor` and `receiverFor`. */
export function sentinelFor(server: () => TestServer, receiver: () => Receiver): () => Sentinel {
  let sentinel: Sentinel | undefined;
  beforeAll(async () => {
    sentinel = await Sentinel.post(server(), receiver());
  });
  return () => {
    if (!sentinel) throw new Error('the sentinel is not at its post yet');
    return sentinel;
  };
}

/** Starts a receiver, and a server whose clock the test moves. */
export function clockedServer(engine: EngineName, env: Environment = {}) {
  const clock = new Clock();
  const server = serverFor(engine, env, { now: clock.now, monotonic: clock.monotonic, sweepMs });
  return { clock, server, receiver: receiverFor() };
}

/** Returns the number of open deliveries. */
export async function openRows({ engine }: TestServer, webhookId: number): Promise<number> {
  const row = await engine.get<{ open: number }>(
    `SELECT count(*) AS open FROM deliveries WHERE webhook_id = $1 AND state IN ('pending', 'retrying')`,
    [webhookId],
  );
  return Number(row?.open);
}

/** Waits until a webhook has a backlog: further events get no deliveries until others are settled. */
export async function untilBacklogged({ engine }: TestServer, webhookId: number, chatId = allChats): Promise<void> {
  await eventually('it has a backlog', () =>
    engine.get('SELECT 1 FROM backlogs WHERE webhook_id = $1 AND chat_id = $2', [webhookId, chatId]),
  );
}

/** Waits until a stopping server accepts no more requests. */
export async function untilClosed({ url }: TestServer): Promise<void> {
  await eventually('it accepts no more requests', () =>
    fetch(url, { keepalive: false }).then(
      () => undefined,
      () => true,
    ),
  );
}

/** Waits until no process holds the lease. */
export async function untilLetGo({ engine }: TestServer, webhookId: number): Promise<void> {
  await eventually('the lease is released', async () => {
    const drive = await engine.get<{ owner: string | null }>('SELECT owner FROM endpoint_state WHERE webhook_id = $1', [
      webhookId,
    ]);
    return drive?.owner === null || undefined;
  });
}

/** Returns a URL where nothing listens until a test starts a server there. */
export class Absent {
  readonly url: string;
  readonly arrivals: { content: unknown; chatId: unknown; eventId: number; attempt: number }[] = [];
  readonly #port: number;
  #server: Bun.Server<undefined> | undefined;

  private constructor(port: number) {
    this.#port = port;
    this.url = `http://127.0.0.1:${port}/hook`;
    afterAll(() => this.close());
  }

  static async make(): Promise<Absent> {
    return new Absent(await quietPort());
  }

  open(): void {
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: this.#port,
      fetch: async (request) => {
        const { data } = (await request.json()) as { data: Record<string, unknown> };
        const eventId = Number(request.headers.get('x-webhook-id'));
        const attempt = Number(request.headers.get('x-webhook-attempt'));
        this.arrivals.push({ content: data.content, chatId: data.chat_id, eventId, attempt });
        return new Response('');
      },
    });
  }

  async close(): Promise<void> {
    await this.#server?.stop(true);
    this.#server = undefined;
  }

  in(chatId: number): unknown[] {
    return this.arrivals.filter((arrival) => arrival.chatId === chatId).map(({ content }) => content);
  }
}
