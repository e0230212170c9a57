import { BrowserLike, goodPassword } from '../../../server/test/support/browser-like.ts';
import type { Client } from '../../../server/test/support/client.ts';
import { post, uploading } from '../../../server/test/support/files.ts';
import { EventReader, streamUrl } from '../../../server/test/support/streams.ts';
import { Receiver } from '../../harness/receiver.ts';
import { makeGroup } from '../../harness/stage.ts';
import { pause, waitUntil } from '../../harness/wait.ts';

/** The service as an ordinary person sees it. Times are in ms. */
export interface Figures {
  readonly meP50: number;
  readonly meP99: number;
  readonly lagP50: number;
  readonly lagP99: number;
  readonly uploads: Admitted;
  readonly streams: Admitted;
  /** Of `users.me` and of sends. */
  readonly calls: Admitted;
}

export interface Admitted {
  readonly tried: number;
  readonly admitted: number;
}

/** A call without a response after this time has failed. So has a delivery that has not arrived. */
const maxMs = 10_000;

const meEveryMs = 40;
const sendEveryMs = 66;
const admitEveryMs = 1_000;

/** Someone with a chat, a webhook, and fewer calls a second than the rate limit allows. */
export async function makeOrdinary(me: Client, ends: AsyncDisposableStack) {
  const chat_id = await makeGroup(me, []);
  const receiver = ends.use(new Receiver());
  await receiver.open();
  await me.ok('webhooks.register', { url: receiver.url, events: ['new_message'], secret: 'an ordinary secret' });
  const sent = new Map<number, number>();
  const send = async () => {
    const { body } = await me.call('messages.send_message', { chat_id, content: 'The figures are in the folder.' });
    sent.set(body.message.message_id, performance.now());
  };

  /** Works for some seconds, and returns what it was like. */
  return async (seconds: number): Promise<Figures> => {
    sent.clear();
    receiver.arrivals.length = 0;
    const [calls, sends, uploads, streams] = await Promise.all([
      every(meEveryMs, seconds, () => me.ok('users.me', {})),
      every(sendEveryMs, seconds, send),
      every(admitEveryMs, seconds, () => upload(me)),
      every(admitEveryMs, seconds, () => openStream(me)),
    ]);
    const lags = await lagsOf(sent, receiver);
    const times = calls.map(({ ms }) => ms);
    return {
      meP50: quantile(times, 0.5),
      meP99: quantile(times, 0.99),
      lagP50: quantile(lags, 0.5),
      lagP99: quantile(lags, 0.99),
      uploads: admitted(uploads),
      streams: admitted(streams),
      calls: admitted([...calls, ...sends]),
    };
  };
}

async function upload(me: Client): Promise<void> {
  const { status } = await post(me, uploading, Buffer.alloc(65_536, 'file '), 'application/octet-stream');
  if (status !== 200) throw new Error(`upload: ${status}`);
}

async function openStream(me: Client): Promise<void> {
  const reader = await EventReader.open(streamUrl(me.url), { authorization: `Bearer ${me.token}` });
  reader.breakOff();
  if (reader.status !== 200) throw new Error(`stream: ${reader.status}`);
}

/** Signs in as an administrator and disables a user. Returns the ms that it took, or undefined if it failed. */
export async function disable(url: string, admin: string, target: Client): Promise<number | undefined> {
  const { ms, isOk } = await timed(async () => {
    const browser = new BrowserLike(url);
    await browser.signIn(admin, goodPassword);
    await browser.post(`/admin/users/${target.userId}/disable`);
    const { status } = await target.call('users.me', {});
    if (status !== 401) throw new Error(`the user is not disabled: ${status}`);
  });
  return isOk ? ms : undefined;
}

interface Timed {
  readonly ms: number;
  readonly isOk: boolean;
}

async function timed(call: () => Promise<unknown>): Promise<Timed> {
  const began = performance.now();
  const late = new AbortController();
  const isOk = await Promise.race([
    call().then(
      () => true,
      () => false,
    ),
    pause(maxMs, late.signal).then(() => false),
  ]);
  late.abort();
  return { ms: performance.now() - began, isOk };
}

/** Calls at this interval, whether or not the previous calls have a response. */
async function every(ms: number, seconds: number, call: () => Promise<unknown>): Promise<Timed[]> {
  const calls: Promise<Timed>[] = [];
  const began = performance.now();
  for (let due = 0; due < seconds * 1_000; due += ms) {
    const early = began + due - performance.now();
    if (early > 0) await pause(early);
    calls.push(timed(call));
  }
  return Promise.all(calls);
}

/** Returns the times from the response to the sender to the arrival of the webhook. */
async function lagsOf(sent: ReadonlyMap<number, number>, receiver: Receiver): Promise<number[]> {
  const arrived = new Map<number, number>();
  const haveAll = () => {
    for (const { body, receivedAtMs } of receiver.arrivals.splice(0)) {
      const { data } = JSON.parse(body.toString()) as { data: { message_id: number } };
      if (!arrived.has(data.message_id)) arrived.set(data.message_id, receivedAtMs);
    }
    return [...sent.keys()].every((id) => arrived.has(id));
  };
  await waitUntil(haveAll, { ms: maxMs });
  return [...sent].map(([id, at]) => Math.max(0, (arrived.get(id) ?? performance.now()) - at));
}

const admitted = (calls: readonly Timed[]): Admitted => ({
  tried: calls.length,
  admitted: calls.filter(({ isOk }) => isOk).length,
});

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
}
