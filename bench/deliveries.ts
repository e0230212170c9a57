import type { Client } from '../server/test/support/client.ts';
import { freePort } from '../server/test/support/postgres.ts';
import { deliveryHeaders } from '../server/webhooks/headers.ts';
import { untilIndexed } from './fill.ts';
import { type Child, cpuSeconds, startBeside, startOnServerCore, untilAnswers } from './machine.ts';
import type { Outcome } from './measurements.ts';
import { content, type ParleyUnderTest, startParley } from './parley.ts';
import { median, type Side } from './race.ts';

const chatCount = 64;
const backlog = 20_000;
const secret = 'a secret of the bench';

interface Seen {
  readonly count: number;
  readonly disordered: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

/** An endpoint in a process of its own, beside the server's core. */
class Receiver implements AsyncDisposable {
  readonly url: string;
  readonly #child: Child;

  constructor(child: Child, port: number) {
    this.#child = child;
    this.url = `http://127.0.0.1:${port}/hook`;
  }

  async seen(): Promise<Seen> {
    return (await (await fetch(this.url)).json()) as Seen;
  }

  async forget(): Promise<void> {
    await fetch(this.url, { method: 'DELETE' });
  }

  async untilSeen(count: number): Promise<Seen> {
    for (const deadline = Date.now() + 120_000; Date.now() < deadline; await Bun.sleep(20)) {
      const seen = await this.seen();
      if (seen.count >= count) return seen;
    }
    throw new Error(`of ${count} deliveries only ${(await this.seen()).count} arrived`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#child[Symbol.asyncDispose]());
  }
}

async function startReceiver(): Promise<Receiver> {
  const port = await freePort();
  const child = startBeside(['bench/receiver.ts'], { PORT: String(port) });
  await untilAnswers(child, `http://127.0.0.1:${port}/`);
  return new Receiver(child, port);
}

/** A paused webhook has a backlog of messages in many chats; it is set active, and the time until all have arrived counts. */
export async function measureDrain(what: string, env: Record<string, string>, rounds: number): Promise<Outcome[]> {
  await using parley = await startParley(env);
  await using receiver = await startReceiver();
  const ada = await parley.user('bench');
  const chats = await makeChats(ada, chatCount);
  const registration = { url: receiver.url, events: ['new_message'], secret };
  const { webhook_id } = (await ada.ok('webhooks.register', registration)).webhook;
  const sides: { bare: Side; ours: Side }[] = [];
  let disordered = 0;
  for (let round = 0; round <= rounds; round++) {
    const bare = await sendBare(receiver, webhook_id);
    await ada.ok('webhooks.update', { webhook_id, status: 'paused' });
    await fill(ada, chats, backlog);
    // What else follows the log is not what is measured.
    await untilIndexed(parley.engine);
    await receiver.forget();
    const before = cpuSeconds(parley.pid) ?? 0;
    await ada.ok('webhooks.update', { webhook_id, status: 'active' });
    const seen = await receiver.untilSeen(backlog);
    disordered += seen.disordered;
    // The first round only warms up.
    if (round > 0) sides.push({ bare, ours: sideOf(seen, (cpuSeconds(parley.pid) ?? 0) - before) });
  }
  if (disordered > 0) throw new Error(`${disordered} deliveries came out of order`);
  return [
    {
      kind: 'rates',
      what,
      bar: 0.4,
      notes: [`${backlog} deliveries of ${chatCount} chats a round, none out of order`],
      baseline: middle(sides.map((s) => s.bare)),
      contender: middle(sides.map((s) => s.ours)),
      ratio: median(sides.map((s) => s.ours.perSecond / s.bare.perSecond)),
      ratios: sides.map((s) => s.ours.perSecond / s.bare.perSecond),
    },
  ];
}

async function sendBare(receiver: Receiver, webhookId: number): Promise<Side> {
  const data = { message_id: 1, chat_id: 1, user_id: 1, content };
  const body = JSON.stringify({ event: 'new_message', timestamp: new Date().toISOString(), data });
  const headers = deliveryHeaders({
    id: '1',
    event: 'new_message',
    body,
    attempt: 1,
    webhookId,
    at: Date.now(),
    secrets: [secret],
    version: '0.1.0',
  });
  await receiver.forget();
  const job = { url: receiver.url, headers, body, count: backlog, concurrency: chatCount };
  await using sender = startOnServerCore(['bench/bare-sender.ts'], {}, JSON.stringify(job));
  let cpu = 0;
  for (; !sender.hasEnded; await Bun.sleep(10)) cpu = cpuSeconds(sender.pid) ?? cpu;
  return sideOf(await receiver.untilSeen(backlog), cpu);
}

const sideOf = ({ count, firstAt, lastAt }: Seen, cpu: number): Side => {
  const seconds = (lastAt - firstAt) / 1_000;
  return {
    perSecond: count / seconds,
    p50Ms: 0,
    p99Ms: 0,
    serverBusy: cpu / seconds,
    loadBusy: undefined,
    cpuMicros: (cpu / count) * 1e6,
    answers: count,
  };
};

const middle = (sides: readonly Side[]): Side => ({
  perSecond: median(sides.map((s) => s.perSecond)),
  p50Ms: 0,
  p99Ms: 0,
  serverBusy: median(sides.map((s) => s.serverBusy ?? 0)),
  loadBusy: undefined,
  cpuMicros: median(sides.map((s) => s.cpuMicros ?? 0)),
  answers: sides.reduce((sum, s) => sum + s.answers, 0),
});

async function makeChats(owner: Client, count: number): Promise<number[]> {
  const chats: number[] = [];
  for (let i = 0; i < count; i++) {
    chats.push((await owner.ok('messages.create_group', { name: `bench ${i}`, participants: [] })).group.chat_id);
  }
  return chats;
}

/** Sends messages into the chats in turn. */
async function fill(sender: Client, chats: readonly number[], count: number): Promise<void> {
  let sent = 0;
  const worker = async () => {
    while (sent < count) {
      const chat_id = chats[sent++ % chats.length] ?? 0;
      await sender.ok('messages.send_message', { chat_id, content });
    }
  };
  await Promise.all(Array.from({ length: 64 }, worker));
}

const perSecond = 500;
const lagSeconds = 4;
const hangingEndpoints = 300;

/** From the answer to the sender to the arrival at the endpoint, with and without endpoints beside it that never answer. */
export async function measureLag(env: Record<string, string>, rounds: number): Promise<Outcome[]> {
  await using parley = await startParley(env);
  const ada = await parley.user('bench');
  const chats = await makeChats(ada, 16);
  const arrivals = new Map<string, number>();
  const endpoint = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const now = performance.now();
      const { data } = (await request.json()) as { data: { content: string } };
      if (!arrivals.has(data.content)) arrivals.set(data.content, now);
      return new Response();
    },
  });
  // Takes everything and says nothing.
  const hanging = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  try {
    const url = `http://127.0.0.1:${endpoint.port}/hook`;
    await ada.ok('webhooks.register', { url, events: ['new_message'], secret });
    await lagOf(ada, chats, arrivals);
    const alone: number[] = [];
    for (let i = 0; i < rounds; i++) alone.push(await lagOf(ada, chats, arrivals));
    for (let i = 0; i < hangingEndpoints; i++) {
      const url = `http://127.0.0.1:${hanging.port}/${i}`;
      await ada.ok('webhooks.register', { url, events: ['new_message'], secret });
    }
    await lagOf(ada, chats, arrivals);
    const beside: number[] = [];
    for (let i = 0; i < rounds; i++) beside.push(await lagOf(ada, chats, arrivals));
    const bar = 20;
    return [
      { kind: 'figure', what: `webhook lag p99 at ${perSecond}/s`, value: median(alone), unit: 'ms', bar },
      {
        kind: 'figure',
        what: `the same beside ${hangingEndpoints} hanging endpoints`,
        value: median(beside),
        unit: 'ms',
        bar: 2 * bar,
      },
    ];
  } finally {
    hanging.stop(true);
    await endpoint.stop(true);
  }
}

let texts = 0;

/** Sends at a steady pace for a while, and answers the 99th percentile of the lags in ms. */
async function lagOf(sender: Client, chats: readonly number[], arrivals: Map<string, number>): Promise<number> {
  const answered = new Map<string, number>();
  const sending: Promise<void>[] = [];
  const began = performance.now();
  const count = perSecond * lagSeconds;
  for (let i = 0; i < count; i++) {
    const wait = began + (i * 1_000) / perSecond - performance.now();
    if (wait > 0) await Bun.sleep(wait);
    const text = `${content} ${++texts}`;
    const chat_id = chats[i % chats.length] ?? 0;
    const send = sender.ok('messages.send_message', { chat_id, content: text });
    sending.push(send.then(() => void answered.set(text, performance.now())));
  }
  await Promise.all(sending);
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; await Bun.sleep(10)) {
    if ([...answered.keys()].every((text) => arrivals.has(text))) break;
  }
  const lags = [...answered].map(([text, at]) => Math.max(0, (arrivals.get(text) ?? Number.POSITIVE_INFINITY) - at));
  arrivals.clear();
  lags.sort((a, b) => a - b);
  return lags[Math.floor(lags.length * 0.99)] ?? Number.NaN;
}

/** Registers webhooks that nothing ever matches: of others, for other events, and for another chat. */
export async function registerIdle(parley: ParleyUnderTest, sender: Client, count: number): Promise<void> {
  const stranger = await parley.user('stranger');
  const [elsewhere] = await makeChats(sender, 1);
  const url = 'http://127.0.0.1:9/hook';
  const kinds = [
    { by: stranger, input: { url, events: ['*'], secret } },
    { by: sender, input: { url, events: ['webhook_disabled'], secret } },
    { by: sender, input: { url, events: ['new_message'], secret, chat_id: elsewhere } },
  ] as const;
  let made = 0;
  const worker = async () => {
    while (made < count) {
      const { by, input } = kinds[made++ % kinds.length] ?? kinds[0];
      await by.ok('webhooks.register', { ...input, events: [...input.events] });
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}
