import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { ClientOutput } from '@parley/contract';
import { version } from '../../package.json';
import { endWithUs, temporaryFolder } from '../support/cleanup.ts';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { users } from '../support/people.ts';
import { describeUnless, requireProgram } from '../support/requirements.ts';
import { serverFor, type TestServer } from '../support/server.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Soon enough for a server that was not woken to notice. */
const sweepMs = 20;

const secret = 'ein Schlüssel ✓';

/** The behaviour of the receiver for a request. */
interface Habit {
  readonly habit?:
    | 'answer'
    | 'zipped'
    | 'interim'
    | 'last answer'
    | 'old answer'
    | 'drip head'
    | 'drip'
    | 'endless'
    | 'reset'
    | 'close'
    | 'garbage';
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Answers at some moment within this time. */
  readonly within_ms?: number;
  /** Adds a date for `Retry-After`, so many seconds from now. */
  readonly retry_in?: number;
  /** The stated length of a body that drips. */
  readonly length?: number;
}

/** A request as the receiver saw it. Times are steps: each is later than all lower ones. */
interface Seen {
  readonly arrived: number;
  readonly answered: number | null;
  /** 1 for the first connection to its port, and so on. */
  readonly socket: number;
  /** The raw head, a byte to a character. */
  readonly head: string;
  /** In base64. */
  readonly body: string;
  /** By which of the secrets, counted from 0, the body and each entry of the other header were signed. */
  readonly signed: { readonly body: number[]; readonly content: number[][]; readonly fresh: boolean };
  /** The signatures were valid. */
  readonly accepted: boolean;
  /** Bytes of the answer. */
  readonly sent: number;
  /** The sender closed the connection before the response had ended. */
  readonly cut_off: boolean;
}

interface EndpointOptions {
  readonly port?: number;
  readonly scheme?: 'http' | 'https';
  /** The end of its path. */
  readonly suffix?: string;
  readonly secrets?: readonly string[];
  /** The signatures that it checks. */
  readonly needs?: readonly ('body' | 'content')[];
}

const program = join(import.meta.dir, '../support/blackbox.py');

/** The receiver, in a process and in a language of its own. */
class BlackBox {
  readonly #child: Bun.Subprocess<'pipe', 'pipe', 'inherit'>;
  readonly #answers: AsyncGenerator<string, void>;
  #last: Promise<unknown> = Promise.resolve();
  #port = 0;
  #paths = 0;

  constructor() {
    this.#child = Bun.spawn(['python3', program], { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' });
    endWithUs(this.#child);
    this.#answers = linesOf(this.#child.stdout);
  }

  async start(): Promise<void> {
    this.#port = await this.listen();
  }

  /** Another port. With a certificate it speaks TLS. */
  async listen(certificate?: { certificate: string; key: string }): Promise<number> {
    return (await this.#ask<{ port: number }>({ do: 'listen', ...certificate })).port;
  }

  /** A new endpoint: its habits in the order of the requests that it accepts, of which the last one stays. */
  async endpoint(answers: readonly Habit[] = [{}], options: EndpointOptions = {}): Promise<Endpoint> {
    const { port = this.#port, scheme = 'http', suffix = '' } = options;
    const { secrets = [secret], needs = ['body', 'content'] } = options;
    const path = `/${++this.#paths}${suffix}`;
    await this.#ask({ do: 'endpoint', path, answers, secrets, needs });
    return new Endpoint(this, `${scheme}://127.0.0.1:${port}${path}`, path);
  }

  async requests(path: string): Promise<readonly Seen[]> {
    return (await this.#ask<{ requests: Seen[] }>({ do: 'requests', path })).requests;
  }

  /** How many connections there were to a port, and what was said over them that was no request. */
  connections(port: number): Promise<{ sockets: number; bad: string[] }> {
    return this.#ask({ do: 'connections', port });
  }

  async setClock(ms: number): Promise<void> {
    await this.#ask({ do: 'clock', now: ms / 1_000 });
  }

  #ask<T>(command: object): Promise<T> {
    const asked = this.#last.then(async () => {
      this.#child.stdin.write(`${JSON.stringify(command)}\n`);
      await this.#child.stdin.flush();
      const { value } = await this.#answers.next();
      if (value === undefined) throw new Error('the receiver has ended');
      return JSON.parse(value) as T;
    });
    this.#last = asked;
    return asked;
  }

  async stop(): Promise<void> {
    await this.#child.stdin.end();
    expect(await this.#child.exited).toBe(0);
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of stream) {
    const lines = (text + decoder.decode(part, { stream: true })).split('\n');
    text = lines.pop() ?? '';
    yield* lines;
  }
}

/** A request, read a little further. */
class Arrival {
  readonly seen: Seen;
  readonly bytes: Buffer;
  readonly line: string;
  readonly headers: readonly string[];

  constructor(seen: Seen) {
    this.seen = seen;
    this.bytes = Buffer.from(seen.body, 'base64');
    const [line = '', ...headers] = seen.head.trimEnd().split('\r\n');
    this.line = line;
    this.headers = headers;
  }

  /** The value of a header whose name is written exactly so. */
  header(name: string): string | undefined {
    return this.headers.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  }

  get text(): string {
    return this.bytes.toString('utf8');
  }

  get data(): Readonly<Record<string, unknown>> {
    return JSON.parse(this.text).data;
  }

  get attempt(): number {
    return Number(this.header('X-Webhook-Attempt'));
  }
}

/** An address at the receiver. */
class Endpoint {
  readonly url: string;
  readonly #box: BlackBox;
  readonly #path: string;

  constructor(box: BlackBox, url: string, path: string) {
    this.#box = box;
    this.url = url;
    this.#path = path;
  }

  async arrivals(): Promise<Arrival[]> {
    return (await this.#box.requests(this.#path)).map((seen) => new Arrival(seen));
  }

  /** All that has come, once it is so many requests or more. */
  arrived(count: number): Promise<Arrival[]> {
    return eventually(`${count} requests`, async () => {
      const arrivals = await this.arrivals();
      return arrivals.length >= count ? arrivals : undefined;
    });
  }
}

/** The clock of a server and of the receiver: it stands still until it is moved, which the next sweep notices. */
class Clock {
  at = Date.now();
  readonly now = () => this.at;
  readonly #box: () => BlackBox;

  constructor(box: () => BlackBox) {
    this.#box = box;
  }

  /** The receiver first: what the server sends at the new time must not look as if it came from the future. */
  async moveTo(ms: number): Promise<void> {
    await this.#box().setClock(ms);
    this.at = ms;
  }

  pass(ms: number): Promise<void> {
    return this.moveTo(this.at + ms);
  }

  /** To the next full second, where a date without more is to be told. */
  toFullSecond(): Promise<void> {
    return this.moveTo(Math.ceil(this.at / second) * second);
  }

  /** Lets time pass until it is so. */
  passUntil<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
    return eventually(what, async () => {
      await this.pass(second);
      return ask();
    });
  }

  in(ms: number): string {
    return new Date(this.at + ms).toISOString();
  }

  /** The clock in seconds, as in a header. */
  get inSeconds(): string {
    return String(Math.floor(this.at / second));
  }
}

type Delivery = ClientOutput<'webhooks.delivery'>['delivery'];

/** A user with chats of their own. */
class Scene {
  readonly ada: Client;
  readonly chats: readonly number[];
  readonly #clock: Clock;

  private constructor(ada: Client, chats: readonly number[], clock: Clock) {
    this.ada = ada;
    this.chats = chats;
    this.#clock = clock;
  }

  static async set(server: TestServer, clock: Clock, chatCount = 1): Promise<Scene> {
    const { ada } = await users(server, 'ada');
    const chats: number[] = [];
    for (let i = 0; i < chatCount; i++) {
      chats.push((await ada.ok('messages.create_group', { name: `chat ${i}`, participants: [] })).group.chat_id);
    }
    return new Scene(ada, chats, clock);
  }

  async hook({ url }: Pick<Endpoint, 'url'>, events = ['new_message']): Promise<number> {
    return (await this.ada.ok('webhooks.register', { url, events, secret })).webhook.webhook_id;
  }

  async say(content: string, chat = 0): Promise<number> {
    const chat_id = this.chats[chat] ?? 0;
    return (await this.ada.ok('messages.send_message', { chat_id, content })).message.message_id;
  }

  async webhook(webhook_id: number) {
    return (await this.ada.ok('webhooks.get', { webhook_id })).webhook;
  }

  /** In full, the oldest first. */
  async deliveries(webhook_id: number): Promise<Delivery[]> {
    const { deliveries } = await this.ada.ok('webhooks.deliveries', { webhook_id });
    const inFull = async (delivery_id: number) => (await this.ada.ok('webhooks.delivery', { delivery_id })).delivery;
    return Promise.all(deliveries.toReversed().map(({ delivery_id }) => inFull(delivery_id)));
  }

  /** The first delivery, once it has come so far. */
  first(webhookId: number, what: string, isThere: (delivery: Delivery) => boolean): Promise<Delivery> {
    return eventually(what, async () => {
      const [first] = await this.deliveries(webhookId);
      return first && isThere(first) ? first : undefined;
    });
  }

  tried(webhookId: number, count: number): Promise<Delivery> {
    return this.first(webhookId, `${count} attempts`, ({ attempt_count }) => attempt_count >= count);
  }

  delivered(webhookId: number): Promise<Delivery> {
    return this.first(webhookId, 'it is delivered', ({ state }) => state === 'delivered');
  }

  async areDelivered(webhook_id: number, count: number): Promise<true | undefined> {
    const { deliveries } = await this.ada.ok('webhooks.deliveries', { webhook_id, state: 'delivered', limit: 200 });
    return deliveries.length >= count || undefined;
  }

  async untilDelivered(webhookId: number, count: number): Promise<void> {
    await eventually(`${count} are delivered`, () => this.areDelivered(webhookId, count));
  }

  /** To the time at which a delivery is tried again, or its endpoint. */
  async untilNext(webhookId: number, { next_attempt_at }: Delivery): Promise<void> {
    const held = (await this.webhook(webhookId)).next_attempt_at;
    const times = [next_attempt_at, held].map((time) => (time === null ? 0 : Date.parse(time)));
    await this.#clock.moveTo(Math.max(this.#clock.at, ...times));
  }
}

/** An attempt without its time and its duration. */
const told = ({ attempts }: Delivery) => attempts.map(({ at: _, duration_ms: __, cause: ___, ...rest }) => rest);

const answeredWith = (status: number) => `the endpoint responded with ${status}`;
const brokeOff = 'the connection broke off';

/** One event, however often it came: the same id and bytes, counted, and signed anew at each time. */
function expectSameEvent(arrivals: readonly Arrival[], numbers: readonly number[]): void {
  expect(arrivals.map(({ attempt }) => attempt)).toEqual([...numbers]);
  for (const name of ['X-Webhook-Id', 'webhook-id', 'X-Webhook-Signature', 'X-Webhook-Registration']) {
    expect(new Set(arrivals.map((arrival) => arrival.header(name))).size).toBe(1);
  }
  expect(new Set(arrivals.map(({ text }) => text)).size).toBe(1);
  for (const { seen } of arrivals) expect(seen).toMatchObject({ accepted: true, signed: signedBy(0) });
  const times = arrivals.map((arrival) => arrival.header('webhook-timestamp'));
  const signatures = arrivals.map((arrival) => arrival.header('webhook-signature'));
  expect(new Set(signatures).size).toBe(new Set(times).size);
}

const signedBy = (one: number) => ({ body: [one], content: [[one]], fresh: true });

const pythonMissing = requireProgram('python3');
const opensslMissing = requireProgram('openssl');

/** Describes behaviour on both engines, with a server whose clock is ours and a receiver beside it. */
function atTheBox(
  name: string,
  suite: (scene: (chats?: number) => Promise<Scene>, box: () => BlackBox, clock: Clock) => void,
) {
  if (pythonMissing) return describeUnless(pythonMissing, name, () => {});
  onAnyEngine(name, (engine) => {
    let started: BlackBox | undefined;
    const box = () => {
      if (!started) throw new Error('the receiver has not been started yet');
      return started;
    };
    const clock = new Clock(box);
    const server = serverFor(engine, {}, { now: clock.now, sweepMs });
    beforeAll(async () => {
      started = new BlackBox();
      await started.start();
      await clock.pass(0);
    });
    afterAll(() => started?.stop());
    suite((chats) => Scene.set(server(), clock, chats), box, clock);
  });
}

atTheBox('an independent receiver', (set, box, clock) => {
  test('gets the exact bytes under exactly these headers, and finds both signatures right', async () => {
    const scene = await set();
    const suffix = '/a%20b;c/%C3%A9?d=e%26f&g';
    const endpoint = await box().endpoint([{}], { suffix });
    const webhookId = await scene.hook(endpoint);
    const content = 'שלום 👋 e\u0301 \u2028 </b> & "quoted" \\ \t\n\u007f \ufeff';
    const messageId = await scene.say(content);
    const [arrival] = await endpoint.arrived(1);
    if (!arrival) throw new Error('nothing arrived');

    const body =
      `{"event":"new_message","timestamp":"${clock.in(0)}","data":{"message_id":${messageId},` +
      `"chat_id":${scene.chats[0]},"user_id":${scene.ada.userId},` +
      '"content":"שלום 👋 e\u0301 \u2028 </b> & \\"quoted\\" \\\\ \\t\\n\u007f \ufeff"}}';
    expect(arrival.bytes).toEqual(Buffer.from(body, 'utf8'));
    expect(arrival.data.content).toBe(content);

    const { pathname, search, host } = new URL(endpoint.url);
    expect(arrival.line).toBe(`POST ${pathname}${search} HTTP/1.1`);
    expect(pathname + search).toEndWith(suffix);
    const delivery = await scene.delivered(webhookId);
    const id = delivery.event_id;
    expect(arrival.header('X-Webhook-Signature')).toMatch(/^sha256=[\da-f]{64}$/);
    expect(arrival.header('webhook-signature')).toMatch(/^v1,[A-Za-z\d+/]{43}=$/);
    expect(arrival.headers.toSorted()).toEqual(
      [
        'Accept: */*',
        'Accept-Encoding: identity',
        'Connection: keep-alive',
        `Content-Length: ${Buffer.byteLength(body)}`,
        'Content-Type: application/json',
        `Host: ${host}`,
        `User-Agent: Parley-Webhooks/${version}`,
        'X-Webhook-Attempt: 1',
        'X-Webhook-Event: new_message',
        `X-Webhook-Id: ${id}`,
        `X-Webhook-Registration: ${webhookId}`,
        `X-Webhook-Signature: ${arrival.header('X-Webhook-Signature')}`,
        `webhook-id: ${id}`,
        `webhook-signature: ${arrival.header('webhook-signature')}`,
        `webhook-timestamp: ${clock.inSeconds}`,
      ].toSorted(),
    );
    expect(arrival.seen).toMatchObject({ accepted: true, signed: signedBy(0) });
    expect(delivery).toMatchObject({ body, signed_content: `${id}.${clock.inSeconds}.${body}` });
    expect(told(delivery)).toEqual([{ number: 1, status: 200, error: null, answer: null }]);
  });

  test('gets the longest message whole', async () => {
    const scene = await set();
    const endpoint = await box().endpoint();
    const webhookId = await scene.hook(endpoint);
    const content = '👋\u0001'.repeat(16_384 / 5);
    await scene.say(content);
    const [arrival] = await endpoint.arrived(1);
    expect(arrival?.data.content).toBe(content);
    expect(arrival?.seen.accepted).toBe(true);
    await scene.delivered(webhookId);
  });

  test('responds with 401 to a changed or late request', async () => {
    const scene = await set();
    const endpoint = await box().endpoint();
    await scene.hook(endpoint);
    await scene.say('genuine');
    const [genuine] = await endpoint.arrived(1);
    if (!genuine) throw new Error('nothing arrived');
    const signed = genuine.headers.filter((line) => /^(x-)?webhook-/i.test(line));
    const sent = Object.fromEntries(signed.map((line) => line.split(': ') as [string, string]));
    const post = async (change: Record<string, string> = {}, body = genuine.text) =>
      (await fetch(endpoint.url, { method: 'POST', headers: { ...sent, ...change }, body })).status;
    const changes: Record<string, string>[] = [
      { 'X-Webhook-Signature': `sha256=${'0'.repeat(64)}` },
      { 'X-Webhook-Signature': (sent['X-Webhook-Signature'] ?? '').toUpperCase() },
      { 'webhook-id': '1' },
      { 'webhook-timestamp': String(Number(clock.inSeconds) + 1) },
      { 'webhook-signature': `v1,${'A'.repeat(43)}=` },
    ];
    expect(await post()).toBe(200);
    for (const change of changes) expect(await post(change)).toBe(401);
    expect(await post({}, genuine.text.replace('genuine', 'forged'))).toBe(401);
    await box().setClock(clock.at + 6 * minute);
    expect(await post()).toBe(401);
    await clock.pass(0);
    expect(await post()).toBe(200);
  });

  test('that knows another secret refuses it, which the delivery tells', async () => {
    const scene = await set();
    const endpoint = await box().endpoint([{}], { secrets: ['another'] });
    const webhookId = await scene.hook(endpoint);
    await scene.say('hello');
    const delivery = await scene.tried(webhookId, 1);
    expect(delivery).toMatchObject({ state: 'retrying', last_status: 401, last_error: answeredWith(401) });
    expect(told(delivery)).toEqual([{ number: 1, status: 401, error: answeredWith(401), answer: 'bad signature' }]);
    const [arrival] = await endpoint.arrivals();
    expect(arrival?.seen).toMatchObject({ accepted: false, signed: { body: [], content: [[]], fresh: true } });
  });

  test('gets every chat in order, one request at a time', async () => {
    const scene = await set(6);
    const soon = { within_ms: 4 };
    const sometimes = Array.from({ length: 30 }, (_, i) => (i % 10 === 9 ? { ...soon, status: 500 } : soon));
    const endpoint = await box().endpoint([...sometimes, soon]);
    const webhookId = await scene.hook(endpoint);
    const sent = Array.from({ length: 20 }, (_, i) => `${i}`);
    await Promise.all(
      scene.chats.map(async (_, chat) => {
        for (const content of sent) await scene.say(content, chat);
      }),
    );
    await clock.passUntil('everything has arrived', () => scene.areDelivered(webhookId, 120));
    const arrivals = await endpoint.arrivals();
    expect(arrivals).toHaveLength(120 + 3);
    for (const chatId of scene.chats) {
      const ofChat = arrivals.filter(({ data }) => data.chat_id === chatId);
      const firsts = ofChat.filter(({ attempt }) => attempt === 1);
      expect(firsts.map(({ data }) => data.content)).toEqual(sent);
      for (const [i, { seen, data, attempt }] of ofChat.entries()) {
        const before = ofChat[i - 1];
        if (!before) continue;
        expect(seen.arrived).toBeGreaterThan(before.seen.answered ?? Number.POSITIVE_INFINITY);
        // A second attempt follows the first one of the same message.
        if (attempt > 1) expect([before.data.content, before.attempt]).toEqual([data.content, attempt - 1]);
      }
    }
    for (const { seen } of arrivals) expect(seen.accepted).toBe(true);
  });

  test('is sent one request after the other over one connection, refusals among them', async () => {
    const scene = await set();
    const port = await box().listen();
    const habits: Habit[] = [{}, { status: 204, body: '' }, { status: 500, body: 'x'.repeat(5_000) }, {}];
    const endpoint = await box().endpoint(habits, { port });
    const webhookId = await scene.hook(endpoint);
    for (let i = 0; i < 30; i++) await scene.say(`${i}`);
    await clock.passUntil('everything has arrived', () => scene.areDelivered(webhookId, 30));
    expect(await endpoint.arrivals()).toHaveLength(31);
    expect(await box().connections(port)).toEqual({ sockets: 1, bad: [] });
  });

  test('is sent to over few connections by many chats', async () => {
    const scene = await set(6);
    const port = await box().listen();
    const endpoint = await box().endpoint([{}], { port });
    await scene.hook(endpoint);
    await Promise.all(
      scene.chats.map(async (_, chat) => {
        for (let i = 0; i < 15; i++) await scene.say(`${i}`, chat);
      }),
    );
    const arrivals = await endpoint.arrived(90);
    const { sockets, bad } = await box().connections(port);
    expect(bad).toEqual([]);
    expect(new Set(arrivals.map(({ seen }) => seen.socket)).size).toBe(sockets);
    expect(sockets).toBeLessThanOrEqual(2 * scene.chats.length);
  });

  test('gets a sample when it is tested, whatever it responds', async () => {
    const scene = await set();
    const endpoint = await box().endpoint([{ body: 'thanks' }, { status: 418, body: 'a teapot' }]);
    const webhookId = await scene.hook(endpoint);
    const good = await scene.ada.ok('webhooks.test', { webhook_id: webhookId });
    expect(good).toMatchObject({
      delivered: true,
      attempt: { number: 1, at: clock.in(0), status: 200, error: null, answer: 'thanks' },
    });
    const bad = await scene.ada.ok('webhooks.test', { webhook_id: webhookId });
    expect(bad).toMatchObject({
      delivered: false,
      attempt: { number: 1, status: 418, error: answeredWith(418), answer: 'a teapot' },
    });
    const [first, other] = await endpoint.arrivals();
    expect(first?.text).toBe(good.body);
    expect(first?.header('X-Webhook-Event')).toBe('test');
    expect(first?.header('webhook-id')).toMatch(/^test-/);
    expect(first?.header('webhook-id')).toBe(first?.header('X-Webhook-Id') ?? '');
    expect(other?.header('webhook-id')).not.toBe(first?.header('webhook-id'));
    for (const arrival of [first, other]) expect(arrival?.seen).toMatchObject({ accepted: true, signed: signedBy(0) });
    expect(await scene.deliveries(webhookId)).toEqual([]);
  });

  test('gets a settled delivery once more when it is redelivered, and one that waits at once', async () => {
    const scene = await set();
    const endpoint = await box().endpoint([{}, { status: 500, body: 'not again' }, { body: 'yes' }]);
    const webhookId = await scene.hook(endpoint);
    await scene.say('hello');
    const { delivery_id, event_id } = await scene.delivered(webhookId);
    await clock.pass(minute);
    await scene.ada.ok('webhooks.redeliver', { delivery_id });
    await clock.pass(minute);
    await scene.ada.ok('webhooks.redeliver', { delivery_id });
    const arrivals = await endpoint.arrivals();
    expectSameEvent(arrivals, [1, 2, 3]);
    expect(new Set(arrivals.map((arrival) => arrival.header('webhook-timestamp'))).size).toBe(3);
    expect(arrivals[2]?.header('X-Webhook-Id')).toBe(String(event_id));
    const delivery = await scene.tried(webhookId, 3);
    expect(delivery.state).toBe('delivered');
    expect(told(delivery)).toEqual([
      { number: 1, status: 200, error: null, answer: null },
      { number: 2, status: 500, error: answeredWith(500), answer: 'not again' },
      { number: 3, status: 200, error: null, answer: 'yes' },
    ]);

    const waiting = await box().endpoint([{ status: 500 }, {}]);
    const waitingId = await scene.hook(waiting);
    await scene.say('hello again');
    const refused = await scene.tried(waitingId, 1);
    await scene.ada.ok('webhooks.redeliver', { delivery_id: refused.delivery_id });
    await scene.delivered(waitingId);
    expectSameEvent(await waiting.arrivals(), [1, 2]);
  });

  test('gets a replay marked as one, with the ids, the bytes and the order of before', async () => {
    const scene = await set(2);
    const endpoint = await box().endpoint();
    const webhookId = await scene.hook(endpoint);
    for (let i = 0; i < 4; i++) await scene.say(`${i}`, i % 2);
    const live = await endpoint.arrived(4);
    await scene.untilDelivered(webhookId, 4);
    const ids = live.map((arrival) => Number(arrival.header('X-Webhook-Id'))).toSorted((a, b) => a - b);
    await clock.pass(minute);
    const { replay } = await scene.ada.ok('webhooks.replay', { webhook_id: webhookId, from_event_id: ids[0] ?? 0 });
    const again = (await endpoint.arrived(8)).slice(4);
    expect(live.map((arrival) => arrival.header('X-Webhook-Replay'))).toEqual(Array(4).fill(undefined));
    expect(again.map((arrival) => arrival.header('X-Webhook-Replay'))).toEqual(Array(4).fill(String(replay.replay_id)));
    for (const chatId of scene.chats) {
      const [before, after] = [live, again].map((list) => list.filter(({ data }) => data.chat_id === chatId));
      expect(after?.map(({ text }) => text)).toEqual(before?.map(({ text }) => text) ?? []);
    }
    for (const arrival of again) {
      const original = live.find(({ text }) => text === arrival.text);
      if (!original) throw new Error('it was never sent before');
      expect(arrival.header('X-Webhook-Id')).toBe(original.header('X-Webhook-Id') ?? '');
      expect(arrival.header('webhook-timestamp')).toBe(clock.inSeconds);
      expect(arrival.seen).toMatchObject({ accepted: true, signed: signedBy(0) });
    }
    await eventually('it is done', async () => {
      const { replays } = await scene.ada.ok('webhooks.replays', { webhook_id: webhookId });
      return (replays[0]?.status === 'done' && replays[0].delivered_count === 4) || undefined;
    });
  });

  test('finds what comes for a day after a rotation signed with both secrets, then with the new one alone', async () => {
    const scene = await set();
    const secrets = [secret, 'the new one'];
    const both = await box().endpoint([{}], { secrets });
    const late = await box().endpoint([{}], { needs: ['content'] });
    const strict = await box().endpoint([{}]);
    const [bothId, lateId, strictId] = [await scene.hook(both), await scene.hook(late), await scene.hook(strict)];
    const newest = async (endpoint: Endpoint, count: number) => (await endpoint.arrived(count)).at(-1)?.seen;

    await scene.say('before');
    expect(await newest(both, 1)).toMatchObject({ accepted: true, signed: signedBy(0) });
    for (const webhook_id of [bothId, lateId, strictId]) {
      await scene.untilDelivered(webhook_id, 1);
      await scene.ada.ok('webhooks.rotate_secret', { webhook_id, secret: 'the new one' });
    }
    await scene.say('between');
    expect(await newest(both, 2)).toMatchObject({ accepted: true, signed: { body: [1], content: [[1], [0]] } });
    // A receiver that has only the old secret can verify the second header, not the first.
    expect(await newest(late, 2)).toMatchObject({ accepted: true, signed: { body: [], content: [[], [0]] } });
    expect(await newest(strict, 2)).toMatchObject({ accepted: false, signed: { body: [], content: [[], [0]] } });
    expect((await scene.webhook(bothId)).previous_secret_until).toBe(clock.in(day));

    await scene.untilDelivered(bothId, 2);
    await clock.pass(day);
    await scene.say('after');
    expect(await newest(both, 3)).toMatchObject({ accepted: true, signed: signedBy(1) });
    expect(await newest(late, 3)).toMatchObject({ accepted: false, signed: { body: [], content: [[]] } });
  });
});

/** The behaviour of a receiver for the first request, and the recorded result. */
interface Trouble {
  readonly does: Habit;
  readonly status: number | null;
  readonly error: string;
  readonly answer: string | RegExp | null;
  /** It is tried again at once: a connection that was kept open may have been closed meanwhile. */
  readonly atOnce?: boolean;
  /** The endpoint counts as down. */
  readonly down?: boolean;
}

const refusal = (status: number, does: Habit, answer: string | RegExp = 'ok'): Trouble => ({
  does: { status, ...does },
  status,
  error: answeredWith(status),
  answer,
});

const unanswered = (does: Habit, error: string, more: Pick<Trouble, 'atOnce' | 'down'>): Trouble => ({
  does,
  status: null,
  error,
  answer: null,
  ...more,
});

/** The start of a broken response is recorded if it was read by then. */
const perhapsHalf = /^(half)?$/;

const troubles: Record<string, Trouble> = {
  'a 500': refusal(500, { body: 'out of order — später' }, 'out of order — später'),
  'a 400 without a body': refusal(400, { body: '' }, ''),
  'an answer of more than 4 KiB': refusal(500, { body: 'é'.repeat(5_000) }, 'é'.repeat(2_048)),
  'an answer with a NUL in it': refusal(500, { body: 'a\0b' }, 'a\ufffdb'),
  'a head that drips': refusal(500, { habit: 'drip head' }),
  'a body without an end': refusal(500, { habit: 'endless' }, 'a'.repeat(4_096)),
  'a connection that breaks off after the status': refusal(500, { habit: 'reset' }, perhapsHalf),
  'a connection that ends after the status': refusal(500, { habit: 'close' }, perhapsHalf),
  'a connection that breaks off before the status': unanswered({ habit: 'reset' }, brokeOff, { atOnce: true }),
  'a connection that ends without an answer': unanswered({ habit: 'close' }, brokeOff, { atOnce: true }),
  garbage: unanswered({ habit: 'garbage' }, 'the response is not valid HTTP', { down: true }),
};

/** Far more than is read of an answer; the system takes in some of it on its own. */
const mostSent = 64 * 1_048_576;

atTheBox('trouble at an independent receiver', (set, box, clock) => {
  for (const [name, { does, status, error, answer, atOnce = false, down = false }] of Object.entries(troubles)) {
    test(`is told of in the delivery: ${name}; and the same event comes again`, async () => {
      const scene = await set();
      const endpoint = await box().endpoint([does, { body: 'fine' }]);
      const webhookId = await scene.hook(endpoint);
      await scene.say('hello');
      const tried = await scene.tried(webhookId, 1);
      if (!atOnce) {
        expect(tried).toMatchObject({ state: 'retrying', last_status: status, last_error: error, attempt_count: 1 });
        expect((await scene.webhook(webhookId)).down_since).toBe(down ? clock.in(0) : null);
        await scene.untilNext(webhookId, tried);
      }
      const delivery = await scene.delivered(webhookId);
      const shown = answer instanceof RegExp ? expect.stringMatching(answer) : answer;
      const arrivals = await endpoint.arrivals();
      if (atOnce && delivery.attempt_count === 1) {
        // A connection that was used before and breaks off is dialled anew by the runtime itself, within one attempt.
        expect(told(delivery)).toEqual([{ number: 1, status: 200, error: null, answer: null }]);
        expectSameEvent(arrivals, [1, 1]);
        return;
      }
      expect(told(delivery)).toEqual([
        { number: 1, status, error, answer: shown },
        { number: 2, status: 200, error: null, answer: 'fine' },
      ]);
      expectSameEvent(arrivals, [1, 2]);
      const [first = '', again = ''] = arrivals.map((arrival) => arrival.header('webhook-timestamp'));
      if (!atOnce) expect(Number(again) - Number(first)).toBeGreaterThanOrEqual(3);
      expect(arrivals[0]?.seen.sent).toBeLessThan(mostSent);
      expect(await scene.webhook(webhookId)).toMatchObject({ status: 'active', down_since: null });
    });
  }

  test('leaves every delivery consistent at every moment', async () => {
    const scene = await set(40);
    // Few enough refusals in a row that the endpoint does not count as down.
    const habits = scene.chats.map((_, i) => ({ within_ms: 5, status: i % 4 === 3 ? 200 : 500 }));
    const webhookId = await scene.hook(await box().endpoint(habits));
    const said = Promise.all(scene.chats.map((_, chat) => scene.say('hello', chat)));
    // Without a pause between the looks: the moment is short.
    for (let tried = 0; tried < scene.chats.length; ) {
      const deliveries = await scene.deliveries(webhookId);
      for (const { state, attempt_count, last_status, attempts } of deliveries) {
        const last = attempts.at(-1)?.status ?? null;
        expect({ state, count: attempts.length, last }).toEqual({ state, count: attempt_count, last: last_status });
      }
      tried = deliveries.filter(({ state }) => state !== 'pending').length;
    }
    await said;
  });

  const afterSuccess: Record<string, Habit> = {
    'a head that drips': { habit: 'drip head' },
    'a body without an end': { habit: 'endless' },
    'a connection that breaks off': { habit: 'reset', status: 200 },
    'a connection that ends': { habit: 'close', status: 202 },
    'an interim answer before it': { habit: 'interim' },
    'an answer of HTTP/1.0': { habit: 'old answer' },
    'an answer that is said to be the last one': { habit: 'last answer', headers: { Connection: 'close' } },
    'a body that is said to be compressed, and is not': { headers: { 'Content-Encoding': 'gzip' } },
  };
  for (const [name, does] of Object.entries(afterSuccess)) {
    test(`changes nothing once there is a 2xx: ${name}`, async () => {
      const scene = await set();
      const endpoint = await box().endpoint([does, {}]);
      const webhookId = await scene.hook(endpoint);
      await scene.say('first');
      await scene.say('second');
      const arrivals = await endpoint.arrived(2);
      await scene.untilDelivered(webhookId, 2);
      expect(arrivals.map(({ data, attempt }) => [data.content, attempt])).toEqual([
        ['first', 1],
        ['second', 1],
      ]);
      const [first] = await scene.deliveries(webhookId);
      expect(first).toMatchObject({ state: 'delivered', attempt_count: 1, last_error: null });
      expect(first?.last_status).toBe(does.status ?? 200);
      expect(await endpoint.arrivals()).toHaveLength(2);
      expect(arrivals[0]?.seen.sent).toBeLessThan(mostSent);
    });
  }

  test('with connections that are closed between requests, unannounced, costs no time', async () => {
    const scene = await set();
    // On a port of its own: what is left of these connections concerns nobody else.
    const endpoint = await box().endpoint([{ habit: 'last answer' }], { port: await box().listen() });
    const webhookId = await scene.hook(endpoint);
    const contents = Array.from({ length: 10 }, (_, i) => `${i}`);
    for (const content of contents) await scene.say(content);
    await scene.untilDelivered(webhookId, contents.length);
    expect((await endpoint.arrivals()).map(({ data }) => data.content)).toEqual(contents);
  });

  test('in the form of a body that drips holds its lane up for a moment only, and is cut off', async () => {
    const scene = await set();
    const drips = [200, 500].flatMap((status) => [1_000, 1_000_000].map((length) => ({ status, length })));
    const endpoints = await Promise.all(drips.map((drip) => box().endpoint([{ habit: 'drip', ...drip }, {}])));
    const webhookIds = await Promise.all(endpoints.map((endpoint) => scene.hook(endpoint)));
    await scene.say('first');
    await scene.say('second');
    const each = drips.map(({ status }, i) => ({ status, endpoint: endpoints[i], webhookId: webhookIds[i] ?? 0 }));
    for (const { status, webhookId } of each) {
      const tried = await scene.tried(webhookId, 1);
      expect(tried).toMatchObject({ last_status: status, state: status === 200 ? 'delivered' : 'retrying' });
      if (status === 500) expect(tried.attempts[0]?.answer).toMatch(/^a+$/);
      else await scene.untilDelivered(webhookId, 2);
    }
    await clock.pass(7 * second);
    for (const { status, endpoint, webhookId } of each) {
      await scene.untilDelivered(webhookId, 2);
      const contents = (await endpoint?.arrivals())?.map(({ data }) => data.content);
      expect(contents).toEqual(status === 200 ? ['first', 'second'] : ['first', 'first', 'second']);
      await eventually('it is cut off', async () => (await endpoint?.arrivals())?.[0]?.seen.cut_off || undefined);
    }
  });

  test('with a connection, twice in a row, means that the endpoint is down: it is probed after 5 s', async () => {
    const scene = await set(2);
    const endpoint = await box().endpoint([{ habit: 'reset' }, { habit: 'close' }, {}]);
    const webhookId = await scene.hook(endpoint);
    await scene.say('first');
    const tried = await scene.tried(webhookId, 2);
    const next_attempt_at = clock.in(5 * second);
    expect(tried).toMatchObject({ state: 'retrying', next_attempt_at });
    expect(await scene.webhook(webhookId)).toMatchObject({
      status: 'active',
      down_since: clock.in(0),
      next_attempt_at,
    });
    await scene.say('elsewhere', 1);
    await clock.pass(5 * second);
    await scene.untilDelivered(webhookId, 2);
    const arrivals = await endpoint.arrivals();
    const first = arrivals.filter(({ data }) => data.content === 'first');
    expectSameEvent(first, [1, 2, 3]);
    for (const arrival of arrivals.slice(2)) expect(arrival.header('webhook-timestamp')).toBe(clock.inSeconds);
    expect(arrivals).toHaveLength(4);
  });

  test('in the form of a redirect is not followed', async () => {
    const scene = await set();
    const target = await box().endpoint();
    const statuses = [301, 302, 303, 307, 308];
    const away = statuses.map((status) => ({ status, headers: { Location: target.url }, body: 'over there' }));
    const endpoint = await box().endpoint([...away, {}]);
    const webhookId = await scene.hook(endpoint);
    await scene.say('hello');
    for (const [i] of statuses.entries()) {
      const tried = await scene.tried(webhookId, i + 1);
      expect(tried.state).toBe('retrying');
      await scene.untilNext(webhookId, tried);
    }
    const answer = `Location: ${target.url}\n\nover there`;
    expect(told(await scene.delivered(webhookId)).slice(0, -1)).toEqual(
      statuses.map((status, i) => ({ number: i + 1, status, error: answeredWith(status), answer })),
    );
    expectSameEvent(await endpoint.arrivals(), [1, 2, 3, 4, 5, 6]);
    expect(await target.arrivals()).toEqual([]);
  });

  test('with a compressed response is shown as the raw bytes', async () => {
    const scene = await set();
    const body = Array.from({ length: 5_000 }, (_, i) => `line ${i}\n`).join('');
    const endpoint = await box().endpoint([
      { habit: 'zipped', status: 500, body },
      { habit: 'zipped', body },
    ]);
    const webhookId = await scene.hook(endpoint);
    await scene.say('hello');
    await scene.untilNext(webhookId, await scene.tried(webhookId, 1));
    const { attempts } = await scene.delivered(webhookId);
    expect(attempts.map(({ status }) => status)).toEqual([500, 200]);
    for (const { answer } of attempts) {
      expect(answer).toStartWith('\u001f\ufffd\b');
      expect(answer).not.toContain('line 1');
      expect(answer?.length).toBeLessThanOrEqual(4_096);
    }
    for (const { seen } of await endpoint.arrivals()) expect(seen.sent).toBeGreaterThan(4_096);
  });

  const pleas: [status: number, how: string, plea: Habit, heldFor: number][] = [
    [429, 'in seconds', { headers: { 'Retry-After': '120' } }, 2 * minute],
    [503, 'in seconds', { headers: { 'Retry-After': '40' } }, 40 * second],
    [429, 'as a date', { retry_in: 600 }, 10 * minute],
    [503, 'as a date', { retry_in: 90 }, 90 * second],
    [503, 'of more than an hour', { retry_in: 86_400 }, hour],
  ];
  for (const [status, how, plea, heldFor] of pleas) {
    test(`that will pass, by a ${status} with Retry-After ${how}, holds the whole endpoint for that long`, async () => {
      const scene = await set(2);
      await clock.toFullSecond();
      const endpoint = await box().endpoint([{ status, body: 'later', ...plea }, {}]);
      const webhookId = await scene.hook(endpoint);
      await scene.say('put off');
      const tried = await scene.tried(webhookId, 1);
      const until = clock.in(heldFor);
      expect(told(tried)).toEqual([{ number: 1, status, error: answeredWith(status), answer: 'later' }]);
      expect(tried).toMatchObject({ state: 'retrying', next_attempt_at: until });
      expect(await scene.webhook(webhookId)).toMatchObject({ next_attempt_at: until, down_since: null });
      await scene.say('waits too', 1);
      await eventually('it waits', async () => (await scene.deliveries(webhookId)).length === 2 || undefined);
      await clock.pass(heldFor);
      await scene.untilDelivered(webhookId, 2);
      const [first, ...rest] = await endpoint.arrivals();
      expect(first?.data.content).toBe('put off');
      expect(rest.map(({ data, attempt }) => [data.content, attempt]).toSorted()).toEqual([
        ['put off', 2],
        ['waits too', 1],
      ]);
      // Anything that was sent before its time would show it.
      for (const arrival of rest) expect(arrival.header('webhook-timestamp')).toBe(clock.inSeconds);
    });
  }

  test('with a 410 disables the webhook, which gets the missed events once it is active again', async () => {
    const scene = await set();
    const endpoint = await box().endpoint([{ status: 410, body: 'moved out' }, {}]);
    const webhookId = await scene.hook(endpoint);
    await scene.say('first');
    await eventually('it is disabled', async () => {
      return (await scene.webhook(webhookId)).status === 'disabled' || undefined;
    });
    expect((await scene.webhook(webhookId)).disabled_reason).toBe('gone');
    await scene.say('second');
    const tried = await scene.tried(webhookId, 1);
    expect(told(tried)).toEqual([{ number: 1, status: 410, error: answeredWith(410), answer: 'moved out' }]);
    await clock.pass(hour);
    await scene.ada.ok('webhooks.update', { webhook_id: webhookId, status: 'active' });
    await scene.untilDelivered(webhookId, 2);
    const arrivals = await endpoint.arrivals();
    expect(arrivals.map(({ data, attempt }) => [data.content, attempt])).toEqual([
      ['first', 1],
      ['first', 2],
      ['second', 1],
    ]);
    for (const arrival of arrivals.slice(1)) expect(arrival.header('webhook-timestamp')).toBe(clock.inSeconds);
    expect(await scene.webhook(webhookId)).toMatchObject({ status: 'active', disabled_reason: null });
  });

  /** Expects the recorded result of an endpoint that no request can be sent to. */
  async function expectUnreached(webhookId: number, scene: Scene, error: string): Promise<void> {
    const tried = await scene.tried(webhookId, 1);
    expect(tried).toMatchObject({ state: 'retrying', next_attempt_at: clock.in(5 * second) });
    expect(told(tried)).toEqual([{ number: 1, status: null, error, answer: null }]);
    expect((await scene.webhook(webhookId)).down_since).toBe(clock.in(0));
  }

  test.skipIf(opensslMissing !== undefined)('with a certificate is told as such, and no request is sent', async () => {
    const scene = await set();
    const port = await box().listen(makeCertificate());
    const endpoint = await box().endpoint([{}], { port, scheme: 'https' });
    const webhookId = await scene.hook(endpoint);
    await scene.say('hello');
    await expectUnreached(webhookId, scene, 'the certificate is self-signed');
    expect(await endpoint.arrivals()).toEqual([]);
    expect(await box().connections(port)).toEqual({ sockets: 1, bad: [] });
  });

  test('of the TLS handshake is reported as such', async () => {
    const scene = await set();
    const port = await box().listen();
    const endpoint = await box().endpoint([{}], { port, scheme: 'https' });
    const webhookId = await scene.hook(endpoint);
    await scene.say('hello');
    await expectUnreached(webhookId, scene, 'the TLS handshake failed');
    expect(await endpoint.arrivals()).toEqual([]);
    expect(await box().connections(port)).toEqual({ sockets: 1, bad: ['it is not HTTP'] });
  });
});

/** One that nobody vouches for. */
function makeCertificate(): { certificate: string; key: string } {
  const folder = temporaryFolder();
  const made = { certificate: join(folder, 'certificate.pem'), key: join(folder, 'key.pem') };
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const holder = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '30'];
  const files = ['-keyout', made.key, '-out', made.certificate];
  const { exitCode, stderr } = Bun.spawnSync(['openssl', 'req', '-x509', ...kind, ...holder, ...files]);
  if (exitCode !== 0) throw new Error(`openssl: ${stderr}`);
  return made;
}
