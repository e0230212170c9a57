import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { endWithUs } from '../support/cleanup.ts';
import { Client } from '../support/client.ts';
import { type Acknowledged, type Broken, deliveryFaults, type Received, sayFaults } from '../support/delivery-check.ts';
import { type Environment, freshEnvironment, onBothEngines } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/postgres.ts';
import { attach } from '../support/server.ts';

describe('the check of deliveries', () => {
  const sent = (messageId: number, chatId = 1): Acknowledged => ({ chatId, messageId, content: `m${messageId}` });
  const bodyOf = ({ chatId, messageId, content }: Acknowledged) =>
    JSON.stringify({
      event: 'new_message',
      timestamp: 'T',
      data: { message_id: messageId, chat_id: chatId, user_id: 1, content },
    });
  /** The event of a message has ten times its id. */
  const got = (webhookId: number, message: Acknowledged, told: Partial<Received> = {}): Received => ({
    webhookId,
    eventId: message.messageId * 10,
    body: bodyOf(message),
    accepted: true,
    ...told,
  });
  const [one, two, three] = [sent(1), sent(2), sent(3)];
  const elsewhere = sent(4, 2);
  const broken = (webhooks: number[], acknowledged: Acknowledged[], received: Received[]): [number, Broken][] =>
    deliveryFaults(webhooks, acknowledged, received).map((fault) => [fault.webhookId, fault.broken]);

  test('has nothing to say where everything arrived, some of it again, chats in any order', () => {
    const received = [
      got(7, one, { accepted: false }),
      got(7, elsewhere),
      got(7, one),
      got(7, one),
      got(7, two),
      got(7, one),
      got(7, three),
      got(8, one),
      got(8, two),
      got(8, three),
      got(8, elsewhere),
    ];
    expect(broken([7, 8], [one, two, three, elsewhere], received)).toEqual([]);
  });

  test('accepts an unacknowledged message that no webhook got', () => {
    expect(broken([7], [], [])).toEqual([]);
  });

  test('finds what was lost to one webhook, and to all', () => {
    expect(broken([7, 8], [one, two], [got(7, one), got(7, two), got(8, one)])).toEqual([[8, 'lost']]);
    expect(broken([7, 8], [one], [])).toEqual([
      [7, 'lost'],
      [8, 'lost'],
    ]);
  });

  test('finds what came and was never accepted', () => {
    expect(broken([7], [one], [got(7, one, { accepted: false })])).toEqual([[7, 'lost']]);
  });

  test('reports an unacknowledged message that only one of two webhooks got', () => {
    expect(broken([7, 8], [], [got(7, one)])).toEqual([[8, 'lost']]);
  });

  test('finds what came in the wrong order, even if it comes again in the right one', () => {
    const received = [got(7, two), got(7, one), got(7, two), got(7, three)];
    expect(broken([7], [one, two, three], received)).toEqual([
      [7, 'out of order'],
      [7, 'out of order'],
    ]);
  });

  test('finds an event that overtook one that was refused', () => {
    const received = [got(7, one, { accepted: false }), got(7, two), got(7, one)];
    expect(broken([7], [one, two], received)).toEqual([[7, 'out of order']]);
  });

  test('finds other bytes under the same id, at the same webhook and at another', () => {
    const other = { body: `${bodyOf(one)} ` };
    expect(broken([7], [one], [got(7, one), got(7, one, other)])).toEqual([[7, 'changed']]);
    expect(broken([7, 8], [one], [got(7, one), got(8, one, other)])).toEqual([[8, 'changed']]);
  });

  test('finds a message that came under two ids', () => {
    const again = got(7, one, { eventId: 11 });
    expect(broken([7], [one], [got(7, one), again])).toEqual([[7, 'told twice']]);
  });

  test('reports a wrong text, a wrong chat, and a request that is no event', () => {
    const otherText = got(7, { ...one, content: 'forged' });
    const otherChat = got(7, { ...one, chatId: 2 });
    expect(broken([7], [one], [otherText])).toEqual([[7, 'wrong']]);
    expect(broken([7], [one], [otherChat])).toEqual([[7, 'wrong']]);
    expect(broken([7], [], [got(7, one, { body: 'not JSON' })])).toEqual([[7, 'wrong']]);
  });

  test('describes a few of many findings', () => {
    const faults = deliveryFaults([7], [one, two, three], []);
    expect(sayFaults(faults, 2)).toBe(
      'webhook 7: lost: message 1, told to nobody\nwebhook 7: lost: message 2, told to nobody\nand 1 more',
    );
    expect(sayFaults([])).toBe('');
  });
});

/** The servers' clock runs this much faster than the real one, so the waits of the retry policy become short. */
const speed = 60;

const module = (name: string) => JSON.stringify(join(import.meta.dir, '../..', name));
const program = `
  const { processRuntime, startParley } = await import(${module('compose.ts')});
  const { readSettings } = await import(${module('config.ts')});
  const began = Number(process.env.BEGAN);
  const now = () => Math.round(began + (Date.now() - began) * ${speed});
  const parley = await startParley(readSettings(process.env), { ...processRuntime, now, sweepMs: 100 });
  console.log(parley.url);
`;

interface Running {
  readonly url: string;
  kill(): Promise<void>;
}

async function start(env: Environment): Promise<Running> {
  const child = Bun.spawn([process.execPath, '-e', program], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  endWithUs(child);
  let said = '';
  for await (const part of child.stdout) {
    said += new TextDecoder().decode(part);
    if (said.endsWith('\n')) {
      const kill = async () => {
        child.kill('SIGKILL');
        await child.exited;
      };
      return { url: said.trim(), kill };
    }
  }
  throw new Error('the server did not start');
}

type Answer = (eventId: number) => number;

/** An endpoint that can be taken away and comes back at the same address. */
class Endpoint {
  readonly url: string;
  readonly #port: number;
  readonly #take: (request: Request) => Promise<Response>;
  #server: Bun.Server<undefined> | undefined;

  constructor(port: number, answer: Answer, received: Received[]) {
    this.url = `http://127.0.0.1:${port}/`;
    this.#port = port;
    this.#take = async (request) => {
      const body = await request.text();
      const eventId = Number(request.headers.get('x-webhook-id'));
      const status = answer(eventId);
      const webhookId = Number(request.headers.get('x-webhook-registration'));
      received.push({ webhookId, eventId, body, accepted: status < 300 });
      return new Response('', { status });
    };
  }

  open(): void {
    this.#server = Bun.serve({ hostname: '127.0.0.1', port: this.#port, fetch: this.#take });
  }

  async close(): Promise<void> {
    await this.#server?.stop(true);
    this.#server = undefined;
  }
}

const between = (least: number, most: number) => least + Math.random() * (most - least);

onBothEngines('a server killed with SIGKILL while it delivers', (engine) => {
  // With PostgreSQL another server may be alive, so the leases of the killed one must expire before the next delivery.
  const lives = engine === 'sqlite' ? [true, true, true, true, true] : [true, true, false, true, false];

  test('loses no acknowledged message: each webhook gets it at least once, in order, unchanged', async () => {
    const env = { ...(await freshEnvironment(engine)), BEGAN: String(Date.now()) };
    const received: Received[] = [];
    const acknowledged: Acknowledged[] = [];
    const refusedBefore = new Set<number>();
    const flaps: Answer = (eventId) => {
      if (refusedBefore.has(eventId) || Math.random() > 0.15) return 200;
      refusedBefore.add(eventId);
      return 500;
    };
    const ok = () => 200;
    const good = new Endpoint(await freePort(), ok, received);
    const flapping = new Endpoint(await freePort(), flaps, received);
    const dead = new Endpoint(await freePort(), ok, received);
    good.open();
    flapping.open();

    let running = await start(env);
    const setUp = await attach(running.url, env);
    const ada = await setUp.user('ada');
    await setUp.stop();
    const chats: number[] = [];
    for (let i = 0; i < 5; i++) {
      chats.push((await ada.ok('messages.create_group', { name: `g${i}`, participants: [] })).group.chat_id);
    }
    const webhookIds: number[] = [];
    for (const { url } of [good, flapping, dead]) {
      const { webhook } = await ada.ok('webhooks.register', { url, events: ['new_message'], secret: 's' });
      webhookIds.push(webhook.webhook_id);
    }

    let sending = true;
    const write = async (name: number) => {
      for (let i = 0; sending; i++) {
        const client = new Client(running.url, ada.token, ada.userId);
        const chat_id = chats[Math.floor(between(0, chats.length))] ?? 0;
        const content = `${name}/${i}`;
        await client
          .ok('messages.send_message', { chat_id, content })
          .then(({ message }) => acknowledged.push({ chatId: chat_id, messageId: message.message_id, content }))
          .catch(() => {});
        await Bun.sleep(between(20, 200));
      }
    };
    const writers = Array.from({ length: 6 }, (_, i) => write(i));
    const flap = async () => {
      while (sending) {
        await Bun.sleep(between(200, 800));
        await flapping.close();
        await Bun.sleep(between(20, 100));
        flapping.open();
      }
    };
    const flapper = flap();

    for (const [i, untilDelivered] of lives.entries()) {
      const grows: readonly unknown[] = untilDelivered ? received : acknowledged;
      const enough = grows.length + between(20, 60);
      await eventually('there is traffic', async () => grows.length >= enough || undefined);
      if (i === 2) dead.open();
      await running.kill();
      running = await start(env);
    }
    sending = false;
    await Promise.all([...writers, flapper]);

    const faults = () => deliveryFaults(webhookIds, acknowledged, received);
    const everything = async () => faults().every(({ broken }) => broken !== 'lost') || undefined;
    await eventually('everything has arrived', everything).catch(() => {});
    expect(sayFaults(faults())).toBe('');

    const client = new Client(running.url, ada.token, ada.userId);
    for (const webhook_id of webhookIds) {
      await eventually('nothing is left to be delivered', async () => {
        const { webhook } = await client.ok('webhooks.get', { webhook_id });
        return webhook.oldest_undelivered_age === null || undefined;
      });
    }
    await running.kill();
    await Promise.all([good.close(), flapping.close(), dead.close()]);
  });
});
