import type { Client } from '../../../server/test/support/client.ts';
import { type EngineName, engineTitles, onEngine } from '../engines.ts';
import type { Outcome } from '../outcome.ts';
import { content, startParley } from '../parley.ts';
import type { Plan } from '../plan.ts';
import { median } from '../race.ts';
import { makeChats, secret } from '../scene.ts';

const bar = 20;
const rounds = 3;

/** An endpoint in this process that remembers when it first saw each text. */
export class Arrivals implements Disposable {
  readonly #at = new Map<string, number>();
  readonly #server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const now = performance.now();
      const { data } = (await request.json()) as { data: { content: string } };
      if (!this.#at.has(data.content)) this.#at.set(data.content, now);
      return new Response();
    },
  });
  readonly url = `http://127.0.0.1:${this.#server.port}/hook`;

  /** When each of these came, in the same order; never, where it has not come within 20 s. Forgets them. */
  async of(texts: readonly string[]): Promise<number[]> {
    for (const deadline = Date.now() + 20_000; Date.now() < deadline; await Bun.sleep(10)) {
      if (texts.every((text) => this.#at.has(text))) break;
    }
    const times = texts.map((text) => this.#at.get(text) ?? Number.POSITIVE_INFINITY);
    this.#at.clear();
    return times;
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }
}

/** From the answer to the sender to the arrival at the endpoint, with and without endpoints beside it that never answer. */
export function measureLag(engine: EngineName, plan: Plan): Promise<Outcome[]> {
  const title = engineTitles[engine];
  return onEngine(engine, `webhook lag, ${title}`, async (fresh) => lag(title, await fresh(), plan));
}

async function lag(title: string, env: Record<string, string>, { sizes }: Plan): Promise<Outcome[]> {
  await using parley = await startParley(env);
  const ada = await parley.user('bench');
  const chats = await makeChats(ada, 16);
  using arrivals = new Arrivals();
  // Takes everything and says nothing.
  using hanging = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const register = (url: string) => ada.ok('webhooks.register', { url, events: ['new_message'], secret });
  const pace = { perSecond: sizes.lagPerSecond, seconds: sizes.lagSeconds };
  const p99 = async () => {
    await lagsOf(ada, chats, arrivals, pace);
    const p99s: number[] = [];
    for (let i = 0; i < rounds; i++) p99s.push(at99(await lagsOf(ada, chats, arrivals, pace)));
    return median(p99s);
  };
  await register(arrivals.url);
  const alone = await p99();
  for (let i = 0; i < sizes.hangingEndpoints; i++) await register(`http://127.0.0.1:${hanging.port}/${i}`);
  const beside = await p99();
  const others = `${sizes.hangingEndpoints} hanging endpoints`;
  return [
    { kind: 'figure', what: `webhook lag p99 at ${pace.perSecond}/s, ${title}`, value: alone, unit: 'ms', bar },
    { kind: 'figure', what: `webhook lag p99 beside ${others}, ${title}`, value: beside, unit: 'ms', bar: 2 * bar },
  ];
}

let texts = 0;

/** Sends at a monotonic pace for a while, and answers the lags in ms, the shortest first. */
export async function lagsOf(
  sender: Client,
  chats: readonly number[],
  arrivals: Arrivals,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<number[]> {
  const answered: { text: string; at: number }[] = [];
  const sending: Promise<unknown>[] = [];
  const began = performance.now();
  for (let i = 0; i < perSecond * seconds; i++) {
    const wait = began + (i * 1_000) / perSecond - performance.now();
    if (wait > 0) await Bun.sleep(wait);
    const text = `${content} ${++texts}`;
    const chat_id = chats[i % chats.length] ?? 0;
    const send = sender.ok('messages.send_message', { chat_id, content: text });
    sending.push(send.then(() => answered.push({ text, at: performance.now() })));
  }
  await Promise.all(sending);
  const arrived = await arrivals.of(answered.map(({ text }) => text));
  return answered.map(({ at }, i) => Math.max(0, (arrived[i] ?? Number.NaN) - at)).sort((a, b) => a - b);
}

export const at99 = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
export const at50 = (sorted: readonly number[]): number => sorted[sorted.length >> 1] ?? Number.NaN;
