import type { Client } from '../../../server/test/support/client.ts';
import { Receiver } from '../../harness/receiver.ts';
import { median } from '../../harness/report.ts';
import { waitUntil } from '../../harness/wait.ts';
import type { EngineMeasure } from '../engines.ts';
import { makeChats, secret } from '../fixtures.ts';
import { content } from '../parley.ts';

const bar = 20;
const rounds = 3;

/** Measures from the response to the sender to the arrival at the endpoint, alone and beside endpoints that hang. */
export const measureLag: EngineMeasure = async ({ title, start }, { sizes }) => {
  await using parley = await start();
  const ada = await parley.user('bench');
  const chats = await makeChats(ada, 16);
  await using receiver = new Receiver();
  await receiver.open();
  // Accepts connections and never responds.
  using hanging = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const register = (url: string) => ada.ok('webhooks.register', { url, events: ['new_message'], secret });
  const pace = { perSecond: sizes.lagPerSecond, seconds: sizes.lagSeconds };
  const p99 = async () => {
    await lagsOf(ada, chats, receiver, pace);
    const p99s: number[] = [];
    for (let i = 0; i < rounds; i++) p99s.push(at99(await lagsOf(ada, chats, receiver, pace)));
    return median(p99s);
  };
  await register(receiver.url);
  const alone = await p99();
  for (let i = 0; i < sizes.hangingEndpoints; i++) await register(`http://127.0.0.1:${hanging.port}/${i}`);
  const beside = await p99();
  const others = `${sizes.hangingEndpoints} hanging endpoints`;
  return [
    { kind: 'figure', what: `webhook lag p99 at ${pace.perSecond}/s, ${title}`, value: alone, unit: 'ms', bar },
    { kind: 'figure', what: `webhook lag p99 beside ${others}, ${title}`, value: beside, unit: 'ms', bar: 2 * bar },
  ];
};

/** A delivery that takes longer counts as lost. */
const maxLagMs = 20_000;

export interface LagPace {
  readonly perSecond: number;
  readonly seconds: number;
  /** Where a lag begins: when the sender gets its response, or when it sends its request. */
  readonly from?: 'request' | 'response';
}

/** Sends at a fixed rate for a while. Returns the lags in ms, the shortest first. */
export async function lagsOf(
  sender: Client,
  chats: readonly number[],
  receiver: Receiver,
  { perSecond, seconds, from = 'response' }: LagPace,
): Promise<number[]> {
  receiver.arrivals.length = 0;
  const begins = new Map<number, number>();
  const sending: Promise<unknown>[] = [];
  const began = performance.now();
  for (let i = 0; i < perSecond * seconds; i++) {
    const wait = began + (i * 1_000) / perSecond - performance.now();
    if (wait > 0) await Bun.sleep(wait);
    const chat_id = chats[i % chats.length] ?? 0;
    const requestAt = performance.now();
    const send = sender.ok('messages.send_message', { chat_id, content });
    sending.push(
      send.then(({ message }) => begins.set(message.message_id, from === 'request' ? requestAt : performance.now())),
    );
  }
  await Promise.all(sending);
  const arrived = new Map<number, number>();
  const read = () => {
    for (const { body, receivedAtMs } of receiver.arrivals.splice(0)) {
      const { data } = JSON.parse(body.toString()) as { data: { message_id: number } };
      if (!arrived.has(data.message_id)) arrived.set(data.message_id, receivedAtMs);
    }
    return [...begins.keys()].every((id) => arrived.has(id));
  };
  await waitUntil(read, { ms: maxLagMs, everyMs: 10 });
  const lag = ([id, at]: [number, number]) => Math.max(0, (arrived.get(id) ?? Number.POSITIVE_INFINITY) - at);
  return [...begins].map(lag).sort((a, b) => a - b);
}

export const at99 = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
export const at50 = (sorted: readonly number[]): number => sorted[sorted.length >> 1] ?? Number.NaN;
