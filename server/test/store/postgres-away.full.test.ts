import { describe, expect, test } from 'bun:test';
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';
import { SQL } from 'bun';
import { readSettings } from '../../config.ts';
import { Connections } from '../../store/engine/connections.ts';
import type { Engine } from '../../store/engine/engine.ts';
import { asUnavailable } from '../../store/engine/failure.ts';
import { openStore } from '../../store/engine/open.ts';
import { untilReachable } from '../../store/engine/reach.ts';
import { temporaryFolder } from '../support/cleanup.ts';
import { type Answer, Client } from '../support/client.ts';
import { type Acknowledged, deliveryFaults, sayFaults } from '../support/delivery-check.ts';
import { freshEnvironment, onPostgres } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { sharedPostgres, startPostgres } from '../support/postgres.ts';
import { Talking } from '../support/process.ts';
import { quietPort } from '../support/quiet-port.ts';
import { receiverFor } from '../support/receiver.ts';
import { attach } from '../support/server.ts';

const hour = 3_600_000;

const unavailable = { code: 'unavailable' };

const environmentOn = (DATABASE_URL: string) => ({
  HOST: '127.0.0.1',
  PORT: '0',
  PARLEY_DATA: temporaryFolder(),
  // A limit that is never reached, so that servers share their usage.
  PARLEY_RATE_LIMIT: '5000/5000',
  LOG_LEVEL: 'warn',
  LOG_FORMAT: 'json',
  DATABASE_URL,
});

/** Calls servers in turn, and collects unexpected outcomes. */
class Callers {
  readonly odd: unknown[] = [];
  refused = 0;
  readonly #urls: readonly string[];
  readonly #ada: Client;
  #turn = 0;

  constructor(urls: readonly string[], ada: Client) {
    this.#urls = urls;
    this.#ada = ada;
  }

  async call(...[name, input, headers]: Parameters<Client['call']>): Promise<Answer<typeof name> | undefined> {
    const url = this.#urls[this.#turn++ % this.#urls.length] ?? '';
    const client = new Client(url, this.#ada.token, this.#ada.userId);
    const answer = await client.call(name, input as never, headers).catch((error: unknown) => {
      this.odd.push([name, String(error)]);
      return undefined;
    });
    if (answer?.status === 200) return answer;
    const isRightly =
      answer?.status === 503 && answer.error?.code === 'unavailable' && answer.headers.has('retry-after');
    if (isRightly) this.refused++;
    else if (answer) this.odd.push([name, answer.status, answer.error]);
    return undefined;
  }
}

onPostgres('while PostgreSQL', () => {
  const receiver = receiverFor();
  test('crashes right after messages are acknowledged, webhooks still deliver them without further activity', async () => {
    const postgres = await startPostgres({ fsync: false });
    const env = environmentOn(await postgres.freshDatabase());
    const servers = [new Talking(env), new Talking(env)];
    const urls = [await servers[0]?.url(), await servers[1]?.url()].map(String);
    const setUp = await attach(urls[0] ?? '', env);
    const ada = await setUp.user('ada');
    await setUp.stop();
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'g', participants: [] })).group;
    const endpoint = receiver().endpoint();
    const hook = { url: endpoint.url, events: ['new_message'], secret: 's' };
    const { webhook_id } = (await ada.ok('webhooks.register', hook)).webhook;
    const granted: string[] = [];
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 10; i++) {
        const content = `${round}/${i}`;
        await ada.ok('messages.send_message', { chat_id, content });
        granted.push(content);
      }
      // The last ones are being dispatched, sent and recorded.
      await Bun.sleep(6 * round);
      await postgres.stop('immediate');
      await postgres.start();
      const isWrittenDown = async () => {
        const answer = await ada.call('webhooks.deliveries', { webhook_id, state: 'delivered', limit: 200 });
        return (answer.status === 200 && answer.body.deliveries.length === granted.length) || undefined;
      };
      await eventually(`all ${granted.length} are delivered, and known to be`, isWrittenDown);
      expect(granted.filter((content) => !endpoint.contents.includes(content))).toEqual([]);
    }
    for (const server of servers) {
      server.kill('SIGTERM');
      expect((await server.end()).code).toBe(0);
    }
  });

  const troubles = {
    'is restarted': { nodes: 2, mode: 'fast', refusals: 1 },
    'crashes and recovers': { nodes: 1, mode: 'immediate', refusals: 1 },
    'is away for a while': { nodes: 2, mode: 'fast', refusals: 200 },
  } as const;
  for (const [trouble, { nodes, mode, refusals }] of Object.entries(troubles)) {
    test(`${trouble}, calls to ${nodes} servers succeed or fail as unavailable, and nothing is lost or duplicated`, async () => {
      const postgres = await startPostgres({ fsync: false });
      const env = environmentOn(await postgres.freshDatabase());
      const servers = Array.from({ length: nodes }, () => new Talking(env));
      const urls: string[] = [];
      for (const server of servers) urls.push(await server.url());
      const setUp = await attach(urls[0] ?? '', env);
      const ada = await setUp.user('ada');
      await setUp.stop();
      const { chat_id } = (await ada.ok('messages.create_group', { name: 'g', participants: [] })).group;
      const endpoints = [receiver().endpoint(), receiver().endpoint()];
      const webhookIds: number[] = [];
      for (const { url } of endpoints) {
        const { webhook } = await ada.ok('webhooks.register', { url, events: ['new_message'], secret: 's' });
        webhookIds.push(webhook.webhook_id);
      }

      const callers = new Callers(urls, ada);
      const acknowledged: Acknowledged[] = [];
      let calling = true;
      const send = async (name: number) => {
        for (let i = 0; calling; i++) {
          const content = `${name} word${i}`;
          const key = { 'idempotency-key': `${name}/${i}` };
          for (let messageId = 0; messageId === 0; await Bun.sleep(30)) {
            const answer = await callers.call('messages.send_message', { chat_id, content } as never, key);
            const sent = answer?.body as { message?: { message_id: number } } | undefined;
            messageId = sent?.message?.message_id ?? 0;
            if (messageId > 0) acknowledged.push({ chatId: chat_id, messageId, content });
          }
        }
      };
      const read = async () => {
        for (; calling; await Bun.sleep(30)) {
          await callers.call('messages.get_messages', { chat_id } as never);
          await callers.call('messages.search_messages', { query: 'word1' } as never);
          await callers.call('messages.create_group', { name: 'x', participants: [] } as never);
          await callers.call('chats.list', {} as never);
        }
      };
      const work = [...Array.from({ length: 6 }, (_, i) => send(i)), read(), read()];
      await eventually('messages are sent', async () => acknowledged.length > 50 || undefined);
      await postgres.stop(mode);
      await eventually('calls fail', async () => callers.refused >= refusals || undefined);
      await postgres.start();
      const before = acknowledged.length;
      await eventually('messages are sent again', async () => acknowledged.length > before + 50 || undefined);
      calling = false;
      await Promise.all(work);
      expect(callers.odd).toEqual([]);

      const found: Acknowledged[] = [];
      for (let after_id = 0, more = true; more; ) {
        const page = await ada.ok('messages.get_messages', { chat_id, after_id, limit: 200 });
        for (const { message_id, content } of page.messages) {
          found.push({ chatId: chat_id, messageId: message_id, content });
        }
        after_id = page.messages.at(-1)?.message_id ?? after_id;
        more = page.has_more;
      }
      const byId = (a: Acknowledged, b: Acknowledged) => a.messageId - b.messageId;
      expect(found).toEqual(acknowledged.toSorted(byId));
      const faults = () =>
        deliveryFaults(
          webhookIds,
          acknowledged,
          endpoints.flatMap(({ arrivals }, i) =>
            arrivals.map(({ eventId, body }) => ({ webhookId: webhookIds[i] ?? 0, eventId, body, accepted: true })),
          ),
        );
      const everything = async () => faults().length === 0 || undefined;
      await eventually('the webhooks have everything', everything).catch(() => {});
      expect(sayFaults(faults())).toBe('');
      const [newest] = found.toSorted(byId).slice(-1);
      await eventually('the newest message is found', async () => {
        const { messages } = await ada.ok('messages.search_messages', { query: newest?.content ?? '' });
        return messages.some(({ message_id }) => message_id === newest?.messageId) || undefined;
      });
      for (const url of urls) expect((await fetch(`${url}/readyz`)).status).toBe(200);

      for (const server of servers) {
        server.kill('SIGTERM');
        const { code, stdout } = await server.end();
        expect(code).toBe(0);
        const lines = stdout.split('\n').filter((line) => line !== '' && !line.includes('"event":"request"'));
        expect(lines.length).toBeLessThan(100);
      }
      await postgres.stop('immediate');
    });
  }
});

/** A TCP proxy whose open connections can go silent, as if the other machine had lost its power. */
class Way {
  readonly #open = new Set<Socket>();
  readonly #server: ReturnType<typeof createServer>;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#server = createServer((near) => {
      const far = dial(Number(port), hostname);
      near.pipe(far).pipe(near);
      for (const socket of [near, far]) {
        this.#open.add(socket);
        socket.on('error', () => {});
      }
    });
  }

  async open(): Promise<number> {
    await new Promise<void>((listening) => void this.#server.listen(0, '127.0.0.1', listening));
    return (this.#server.address() as AddressInfo).port;
  }

  silence(): void {
    for (const socket of this.#open) socket.unpipe().pause();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
  }
}

// The rest spends its time waiting, and nothing is shared: so these run at the same time.

onPostgres('connections', () => {
  test.concurrent('to a silent server are replaced', async () => {
    const url = await (await sharedPostgres()).freshDatabase();
    const way = new Way(url);
    const through = url.replace(/:\d+\//, `:${await way.open()}/`);
    let silent = 0;
    const monotonic = () => performance.now() + silent;
    const connections = new Connections(() => new SQL(through, { max: 2 }), hour, monotonic);
    const ask = () => connections.use((sql) => sql.unsafe('SELECT 1 AS one'));
    const hanging: Promise<unknown>[] = [];
    const write = () =>
      connections.use((sql, call) =>
        sql.begin(async (tx) => {
          call.lastActiveAt = monotonic();
          await tx.unsafe('CREATE TABLE kept (id int)');
          way.silence();
          hanging.push(ask(), ask(), tx.unsafe('INSERT INTO kept VALUES (1)'));
          silent = hour;
          await Promise.all(hanging);
        }),
      );
    await Promise.all([ask(), ask()]);
    const outcomes = [...(await Promise.allSettled([write()])), ...(await Promise.allSettled(hanging))];
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'rejected']);
    for (const outcome of outcomes) {
      expect(asUnavailable((outcome as PromiseRejectedResult).reason)).toMatchObject(unavailable);
    }
    expect([...(await ask())]).toMatchObject([{ one: 1 }]);
    await connections.close();
    way.close();
  });

  test.concurrent('with many or slow statements are kept', async () => {
    const url = await (await sharedPostgres()).freshDatabase();
    let passed = 0;
    const monotonic = () => performance.now() + passed;
    const connections = new Connections(() => new SQL(url, { max: 1 }), hour, monotonic);
    const backend = () => connections.use((sql) => sql.unsafe('SELECT pg_backend_pid() AS pid, pg_sleep(0.2)'));
    const answers = await Promise.all(Array.from({ length: 5 }, backend));
    const steps = connections.use((sql, call) =>
      sql.begin(async (tx) => {
        // Each statement is shorter than the timeout, and all of them together are longer.
        for (let step = 0; step < 5; step++) {
          call.lastActiveAt = monotonic();
          passed += 0.6 * hour;
          await tx.unsafe('SELECT pg_sleep(0.5)');
        }
        return tx.unsafe('SELECT pg_backend_pid() AS pid');
      }),
    );
    const pids = [...answers, await steps].map(([row]) => (row as { pid: number }).pid);
    expect(new Set(pids).size).toBe(1);
    await connections.close();
  });
});

onPostgres('a database', () => {
  const opened = async (): Promise<{ engine: Engine; another: () => Promise<Engine>; url: string }> => {
    const env = await freshEnvironment('postgres');
    const another = () => openStore(readSettings(env), Date.now);
    return { engine: await another(), another, url: env.DATABASE_URL ?? '' };
  };
  const takeIds = (engine: Engine) => engine.write((tx) => tx.takeIds({ messages: 1, events: 1 }));

  test.concurrent('that is read-only is unavailable until new connections reach the primary', async () => {
    const { engine: first, another, url } = await opened();
    await first.close();
    const name = new URL(url).pathname.slice(1);
    const admin = new SQL(url.replace(/\w+$/, 'postgres'), { max: 1 });
    await admin.unsafe(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    const engine = await another();
    const answer = await takeIds(engine).catch((error: unknown) => error);
    expect(answer).toMatchObject(unavailable);
    // Open connections stay read-only, as those to a demoted server do.
    await admin.unsafe(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    const ids = await eventually('ids are taken', () => takeIds(engine).catch(() => undefined));
    expect(ids.events).toHaveLength(1);
    await admin.close();
    await engine.close();
  });

  test.concurrent('ends an idle transaction that blocks other writers', async () => {
    const { engine, another } = await opened();
    const other = await another();
    const stillness = Promise.withResolvers<void>();
    const has = Promise.withResolvers<void>();
    const still = engine
      .write(async (tx) => {
        await tx.takeIds({ messages: 0, events: 1 });
        has.resolve();
        await stillness.promise;
        await tx.run('CREATE TABLE never (id int)');
      })
      .catch((error: unknown) => error);
    await has.promise;
    await takeIds(other);
    stillness.resolve();
    expect(await still).toMatchObject(unavailable);
    expect(await engine.get(`SELECT to_regclass('never') AS found`)).toEqual({ found: null });
    await engine.close();
    await other.close();
  });
});

describe('a server that starts before its database', () => {
  test.concurrent('reports it once, keeps trying, and stops on a signal', async () => {
    let tries = 0;
    const hangingUp = createServer((socket) => {
      tries++;
      socket.destroy();
    });
    await new Promise<void>((listening) => void hangingUp.listen(0, '127.0.0.1', listening));
    const { port } = hangingUp.address() as AddressInfo;
    const hosts = [`127.0.0.1:${await quietPort()}`, 'no-such-host.invalid', `127.0.0.1:${port}`];
    const servers = hosts.map((host) => new Talking(environmentOn(`postgres://parley:hunter2@${host}/parley`)));
    for (const server of servers) {
      await eventually('it reports the failure', async () => server.stderr.includes('trying again') || undefined);
    }
    await eventually('it has tried several times', async () => tries > 3 || undefined);
    for (const server of servers) {
      server.kill('SIGTERM');
      const { code, stderr } = await server.end();
      expect({ code, lines: stderr.trimEnd().split('\n') }).toEqual({
        code: 0,
        lines: [expect.stringMatching(/^Cannot reach the database yet: .+; trying again$/)],
      });
      expect(stderr).not.toContain('hunter2');
    }
    hangingUp.close();
  });

  test.concurrent('gives up in the end', async () => {
    const url = `postgres://parley:hunter2@127.0.0.1:${await quietPort()}/parley`;
    const given = await untilReachable(url, 300, () => {}).catch((error: unknown) => error);
    expect(given).toMatchObject(unavailable);
  });
});

onPostgres('a server that starts before its database', () => {
  test.concurrent('waits for it', async () => {
    const postgres = await startPostgres({ fsync: false });
    const env = environmentOn(await postgres.freshDatabase());
    await postgres.stop('fast');
    const server = new Talking(env);
    await eventually('it has tried', async () => server.stderr.includes('trying again') || undefined);
    await postgres.start();
    expect((await fetch(`${await server.url()}/readyz`)).status).toBe(200);
    server.kill('SIGTERM');
    expect((await server.end()).code).toBe(0);
    await postgres.stop('immediate');
  });
});
