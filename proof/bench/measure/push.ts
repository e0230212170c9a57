import { figure, median } from '../../harness/report.ts';
import { hangMs } from '../../harness/wait.ts';
import type { EngineMeasure } from '../engines.ts';
import { addPeople } from './listeners.ts';

/** Seconds. */
const bar = 10;

/** A push service takes this long for a response. */
const serviceMs = 100;

/**
 * Each user of a group has a push subscription, all at one push service, and a message mentions `@all`: the time from the call
 * to the last push, which includes the delay in which a message may be read.
 */
export const measurePush: EngineMeasure = async ({ title, start }, { rounds, sizes }) => {
  const count = sizes.subscriptions;
  await using parley = await start();
  const owner = await parley.user('bench');
  const people = await addPeople(parley, count);
  const service = new CountingService();
  try {
    for (const { token } of people) await subscribe(parley.url, token, service.newSubscription());
    const participants = people.map(({ userId }) => userId);
    const { chat_id } = (await owner.ok('messages.create_group', { name: 'All', participants })).group;
    const seconds: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      const startedAt = performance.now();
      const served = service.until(count);
      await owner.ok('messages.send_message', { chat_id, content: `@all round ${round}` });
      await served;
      seconds.push((performance.now() - startedAt) / 1_000);
    }
    return [
      {
        kind: 'figure',
        what: `${figure(count)} push subscriptions are served after a message with @all, ${title}`,
        // The first round only warms up.
        value: median(seconds.slice(1)),
        unit: 's',
        bar,
        notes: [
          `the push service responds after ${serviceMs} ms; 3 s of it are the delay in which a message may be read`,
        ],
      },
    ];
  } finally {
    await service.stop();
  }
};

/** A push service that counts requests. */
class CountingService {
  readonly #server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      await request.arrayBuffer();
      await Bun.sleep(serviceMs);
      this.#count++;
      if (this.#count === this.#awaited) this.#reached.resolve();
      return new Response(null, { status: 201 });
    },
  });
  #count = 0;
  #awaited = 0;
  #made = 0;
  #reached = Promise.withResolvers<void>();

  newSubscription() {
    return {
      endpoint: `${this.#server.url.origin}/push/${++this.#made}`,
      // The keys of RFC 8291, appendix A.
      p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
      auth: 'BTBZMqHH6r4Tts7J_aSIgg',
    };
  }

  /** Resolves after so many further requests. */
  until(count: number): Promise<void> {
    this.#awaited = this.#count + count;
    this.#reached = Promise.withResolvers();
    const complain = () => this.#reached.reject(new Error(`only ${this.#count} of ${this.#awaited} pushes arrived`));
    const timer = setTimeout(complain, hangMs);
    return this.#reached.promise.finally(() => clearTimeout(timer));
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }
}

async function subscribe(url: string, token: string, input: object): Promise<void> {
  const response = await fetch(`${url}/api/push/subscribe`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
  });
  if (response.status !== 200) throw new Error(`subscribe: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}
