import type { Client } from '../../../server/test/support/client.ts';
import { deliveryHeaders } from '../../../server/webhooks/headers.ts';
import { cpuSeconds } from '../../harness/machine.ts';
import { Receiver } from '../../harness/receiver.ts';
import { inParallel } from '../../harness/stage.ts';
import { waitUntil } from '../../harness/wait.ts';
import type { SenderJob } from '../bare/sender.ts';
import { doubtsAboutBaseline } from '../doubt.ts';
import type { EngineMeasure } from '../engines.ts';
import { makeChats, secret, untilIndexed } from '../fixtures.ts';
import { content, runBare } from '../parley.ts';
import { compare, type Round } from '../race.ts';

const bars = { sqlite: 0.5, postgres: 0.4 } as const;
const chatCount = 64;

/** A paused webhook has a backlog of messages in many chats. Measures the time from its activation to the last arrival. */
export const measureDrain: EngineMeasure = async ({ engine, title, start }, plan) => {
  const { backlog } = plan.sizes;
  await using parley = await start();
  await using receiver = new Receiver();
  await receiver.open();
  const ada = await parley.user('bench');
  const chats = await makeChats(ada, chatCount);
  const registration = { url: receiver.url, events: ['new_message'], secret };
  const { webhook_id } = (await ada.ok('webhooks.register', registration)).webhook;
  const [bare, ours]: [Round[], Round[]] = [[], []];
  for (let round = 0; round <= Math.min(3, plan.rounds); round++) {
    bare.push(await sendBare(receiver, webhook_id, backlog));
    await ada.ok('webhooks.update', { webhook_id, status: 'paused' });
    await sendInTurn(ada, chats, backlog);
    // Only deliveries are measured.
    await untilIndexed(parley.engine);
    receiver.arrivals.length = 0;
    const before = cpuSeconds(parley.pid) ?? 0;
    await ada.ok('webhooks.update', { webhook_id, status: 'active' });
    await untilArrived(receiver, backlog);
    ours.push(roundOf(receiver, (cpuSeconds(parley.pid) ?? 0) - before));
    checkOrder(receiver);
  }
  // The first round only warms up.
  const result = compare(bare.slice(1), ours.slice(1));
  return [
    {
      kind: 'rates',
      what: `webhook backlog, ${title}`,
      bar: bars[engine],
      notes: [`${backlog} deliveries of ${chatCount} chats a round, none out of order`],
      ...result,
      doubts: doubtsAboutBaseline(result.baseline),
    },
  ];
};

/** Returns a delivery as Parley makes it. */
export function makeDelivery(webhookId: number): Pick<SenderJob, 'headers' | 'body'> {
  const data = { message_id: 1, chat_id: 1, user_id: 1, content };
  const event = 'new_message';
  const body = JSON.stringify({ event, timestamp: new Date().toISOString(), data });
  const at = Date.now();
  const headers = deliveryHeaders({
    id: '1',
    event,
    body,
    attempt: 1,
    webhookId,
    at,
    secrets: [secret],
    version: '0.1.0',
  });
  return { headers, body };
}

async function sendBare(receiver: Receiver, webhookId: number, count: number): Promise<Round> {
  receiver.arrivals.length = 0;
  const job: SenderJob = { url: receiver.url, ...makeDelivery(webhookId), count, concurrency: chatCount };
  const cpu = await runBare<number>('sender', job);
  await untilArrived(receiver, count);
  return roundOf(receiver, cpu);
}

async function untilArrived({ arrivals }: Receiver, count: number): Promise<void> {
  const haveArrived = await waitUntil(() => arrivals.length >= count, { ms: 120_000 });
  if (!haveArrived) throw new Error(`of ${count} deliveries only ${arrivals.length} arrived`);
}

function roundOf({ arrivals }: Receiver, cpu: number): Round {
  const [first, last] = [arrivals[0]?.receivedAtMs ?? 0, arrivals.at(-1)?.receivedAtMs ?? 0];
  const [count, seconds] = [arrivals.length, (last - first) / 1_000];
  return { perSecond: count / seconds, serverBusy: cpu / seconds, cpuMicros: (cpu / count) * 1e6, answers: count };
}

/** Fails if the messages of a chat did not arrive in the order of their ids. */
function checkOrder({ arrivals }: Receiver): void {
  const newest = new Map<number, number>();
  for (const { body } of arrivals) {
    const { data } = JSON.parse(body.toString()) as { data: { chat_id: number; message_id: number } };
    if ((newest.get(data.chat_id) ?? 0) > data.message_id) throw new Error('deliveries arrived out of order');
    newest.set(data.chat_id, data.message_id);
  }
}

const sendInTurn = (sender: Client, chats: readonly number[], count: number): Promise<void> =>
  inParallel(64, count, (n) => sender.ok('messages.send_message', { chat_id: chats[n % chats.length] ?? 0, content }));
