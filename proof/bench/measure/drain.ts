import type { Client } from '../../../server/test/support/client.ts';
import { deliveryHeaders } from '../../../server/webhooks/headers.ts';
import { doubtsAboutBaseline } from '../doubt.ts';
import { type Receiver, type Seen, startReceiver } from '../endpoint.ts';
import { type EngineName, engineTitles, onEngine } from '../engines.ts';
import { untilIndexed } from '../fill.ts';
import { cpuSeconds, startOnServerCore } from '../machine.ts';
import type { Outcome } from '../outcome.ts';
import { content, startParley } from '../parley.ts';
import type { Plan } from '../plan.ts';
import { median, type Side } from '../race.ts';
import { atOnce, makeChats, secret } from '../scene.ts';

const bar = 0.55;
const chatCount = 64;

/** A paused webhook has a backlog of messages in many chats; it is set active, and the time until all have arrived counts. */
export function measureDrain(engine: EngineName, plan: Plan): Promise<Outcome[]> {
  const what = `webhook backlog, ${engineTitles[engine]}`;
  return onEngine(engine, what, async (fresh) => [await drain(what, await fresh(), plan)]);
}

async function drain(what: string, env: Record<string, string>, plan: Plan): Promise<Outcome> {
  const { backlog } = plan.sizes;
  const rounds = Math.min(3, plan.rounds);
  await using parley = await startParley(env);
  await using receiver = await startReceiver();
  const ada = await parley.user('bench');
  const chats = await makeChats(ada, chatCount);
  const registration = { url: receiver.url, events: ['new_message'], secret };
  const { webhook_id } = (await ada.ok('webhooks.register', registration)).webhook;
  const sides: { bare: Side; ours: Side }[] = [];
  let disordered = 0;
  for (let round = 0; round <= rounds; round++) {
    const bare = await sendBare(receiver, webhook_id, backlog);
    await ada.ok('webhooks.update', { webhook_id, status: 'paused' });
    await sendInTurn(ada, chats, backlog);
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
  const ratios = sides.map((s) => s.ours.perSecond / s.bare.perSecond);
  const baseline = middle(sides.map((s) => s.bare));
  return {
    kind: 'rates',
    what,
    bar,
    notes: [`${backlog} deliveries of ${chatCount} chats a round, none out of order`],
    baseline,
    contender: middle(sides.map((s) => s.ours)),
    ratio: median(ratios),
    ratios,
    doubts: doubtsAboutBaseline(baseline),
  };
}

async function sendBare(receiver: Receiver, webhookId: number, count: number): Promise<Side> {
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
  const job = { url: receiver.url, headers, body, count, concurrency: chatCount };
  await using sender = startOnServerCore(['proof/bench/bare/sender.ts'], {}, JSON.stringify(job));
  let cpu = 0;
  for (; !sender.hasEnded; await Bun.sleep(10)) cpu = cpuSeconds(sender.pid) ?? cpu;
  return sideOf(await receiver.untilSeen(count), cpu);
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

const sendInTurn = (sender: Client, chats: readonly number[], count: number): Promise<void> =>
  atOnce(64, count, async (n) => {
    await sender.ok('messages.send_message', { chat_id: chats[n % chats.length] ?? 0, content });
  });
