import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../server/test/support/cleanup.ts';
import { type EngineName, freshEnvironment } from '../../server/test/support/engines.ts';
import { eventually } from '../../server/test/support/eventually.ts';
import { attach, type TestServer } from '../../server/test/support/server.ts';
import { browserKeys } from '../../server/test/support/stage.ts';
import { Server } from '../harness/server.ts';
import { hangMs } from '../harness/wait.ts';
import { onePixel } from './calls/from-schema.ts';
import { Pool } from './calls/value.ts';
import { makePeople, type People } from './people.ts';
import { attempt, type Draw, type Subject } from './subject.ts';

/** After so many calls all people and things are made anew: some calls delete what others need. */
const maxCalls = 400;

/** A server process, and people and things in it for calls to use. */
export class Target {
  readonly server: TestServer;
  readonly #process: Server;
  readonly #engine: EngineName;
  readonly #log: string;
  readonly #statuses = new Map<number, number>();
  #people: Promise<People> | undefined;
  /** The ids of the people and things that were made for them. */
  #madeIds = new Pool();
  #calls = 0;
  /** A request has succeeded that may have changed something. */
  #isChanged = false;
  /** Bytes of the log whose faults have been reported. */
  #reported = 0;
  /** The ids that calls can use. */
  pool = new Pool();

  private constructor(engine: EngineName, server: TestServer, process: Server, log: string) {
    this.#engine = engine;
    this.server = server;
    this.#process = process;
    this.#log = log;
  }

  /** Calls go to the URL that `through` makes of the server's own. */
  static async open(engine: EngineName, through = (url: string): string => url): Promise<Target> {
    const env = {
      ...(await freshEnvironment(engine)),
      LOG_LEVEL: 'warn',
      PARLEY_SIGN_IN_LIMIT: 'off',
      PARLEY_SIGN_UP: 'open',
      PARLEY_FILE_LIMIT: '65536',
    };
    const output = join(temporaryFolder(), 'log');
    const process = await Server.start(env, { output });
    return new Target(engine, await attach(through(process.url), env), process, output);
  }

  get url(): string {
    return this.server.url;
  }

  /** The number of responses so far, by status. */
  get statuses(): ReadonlyMap<number, number> {
    return this.#statuses;
  }

  /** Returns the people, and makes new ones after `maxCalls` and after `spoil`. */
  people(): Promise<People> {
    if (!this.#people || this.#calls >= maxCalls) this.#people = this.#makePeople();
    return this.#people;
  }

  async #makePeople(): Promise<People> {
    this.#calls = 0;
    this.#isChanged = false;
    const pool = new Pool();
    const people = await makePeople(this.server);
    await furnish(people, pool);
    this.#madeIds = pool;
    this.pool = pool.copy();
    return people;
  }

  /** Reports that a call deleted something that others need. */
  spoil(): void {
    this.#people = undefined;
  }

  async send(path: string, init: RequestInit): Promise<Response> {
    this.#calls++;
    const signal = AbortSignal.timeout(hangMs);
    const response = await fetch(`${this.url}${path}`, { redirect: 'manual', ...init, signal });
    this.#statuses.set(response.status, (this.#statuses.get(response.status) ?? 0) + 1);
    const isRead = ['GET', 'HEAD', 'OPTIONS'].includes(init.method ?? 'GET');
    if (!isRead && response.status < 400) this.#isChanged = true;
    return response;
  }

  /** Fails if the server does not serve any more, or has logged a fault. */
  async check(): Promise<void> {
    const health = await this.send('/healthz', {});
    if ((await health.text()) !== 'ok\n') throw new Error(`/healthz returns ${health.status}`);
    const fault = this.takeFault();
    if (fault !== undefined) throw new Error(`the server has logged a fault: ${fault}`);
  }

  /** Tries a subject, and checks the server afterwards. Returns the number of inputs. */
  async attempt(subject: Subject, draw: Partial<Draw> = {}): Promise<number> {
    // The subjects before may have emptied the chats. Whatever they have learnt, this one begins as if it were alone.
    if (this.#isChanged) this.spoil();
    else this.pool = this.#madeIds.copy();
    try {
      const tried = await attempt(subject, `http --database ${this.#engine}`, draw);
      await this.check();
      return tried;
    } catch (error) {
      // The faults of this subject must not fail the next one.
      this.takeFault();
      throw error;
    }
  }

  /** Returns the last fault in the log that was not reported yet. */
  takeFault(): string | undefined {
    const logged = readFileSync(this.#log);
    // The last line may be incomplete.
    const whole = logged.lastIndexOf('\n') + 1;
    const fresh = logged.toString('utf8', this.#reported, whole);
    this.#reported = whole;
    return fresh.split('\n').findLast((line) => line.includes('"level":"error"'));
  }

  /** Stops the server. Fails if it does not stop in order. */
  async close(): Promise<void> {
    await this.server.stop();
    const isInOrder = await this.#process.stop(hangMs);
    if (!isInOrder) throw new Error(`the server did not stop in order: ${readFileSync(this.#log)}`);
  }
}

/**
 * Makes a group and a channel with messages, a file, a webhook with deliveries, tokens to revoke, and what the browser manages.
 * The first things of a kind are used most.
 */
async function furnish(people: People, pool: Pool): Promise<void> {
  const { owner, admin, member, bot, stranger, root, browser } = people;
  const own = await browser.ok('bots.create', { name: `own-${bot.userId}` });
  pool.learn({ user_id: own.bot.user_id });
  for (let i = 0; i < 3; i++) {
    const input = { user_id: own.bot.user_id, name: 'spare', scopes: ['chats:read' as const] };
    pool.learn((await browser.ok('bots.create_token', input)).token);
  }
  const redirects = ['https://app.example/callback'];
  pool.learn(await browser.ok('apps.register', { name: 'Own', redirects, confidential: true }));
  const participants = [admin, member, bot, root].map(({ userId }) => userId);
  const { group } = await owner.ok('messages.create_group', { name: 'Group', participants });
  await owner.ok('chats.set_role', { chat_id: group.chat_id, user_id: admin.userId, role: 'admin' });
  const { channel } = await owner.ok('messages.create_channel', { name: 'Channel', participants });
  const { chat } = await owner.ok('messages.create_direct', { user_id: stranger.userId });
  const chats = [group, channel, chat];
  const input = { url: 'http://127.0.0.1:9/', events: ['*'], secret: 's' };
  const { webhook } = await owner.ok('webhooks.register', input);
  pool.learn({ webhook });
  for (let i = 0; i < 3; i++) pool.learn(await owner.ok('webhooks.register', input));
  for (const { chat_id } of chats) {
    pool.learn(await owner.ok('messages.send_message', { chat_id, content: 'some words' }));
    pool.learn(await owner.ok('messages.send_message', { chat_id, file: new File(['a file'], 'file.txt') }));
  }
  pool.learn(await member.ok('messages.send_message', { chat_id: group.chat_id, content: 'more words' }));
  for (const person of [owner, member, bot])
    await person.ok('users.set_avatar', { file: new File([onePixel], 'a.png') });
  for (let i = 0; i < 3; i++) {
    pool.learn(
      await owner.ok('messages.send_message', { chat_id: group.chat_id, file: new File([onePixel], 'b.png') }),
    );
  }
  for (let i = 0; i < 3; i++) {
    pool.learn(
      await owner.ok('push.subscribe', {
        endpoint: `http://127.0.0.1:9/push/${i}`,
        ...browserKeys,
      }),
    );
  }
  for (let i = 0; i < 10; i++) pool.learn(await root.ok('invitations.create', {}));
  pool.learn(await owner.ok('tokens.create', { name: 'spare' }));
  pool.learn(await owner.ok('apps.register', { name: 'App', redirects: ['https://app.example/callback'] }));
  pool.learn(await owner.ok('events.list', {}));
  pool.learn({ chats, people: [owner, admin, member, bot, stranger].map(({ userId: user_id }) => ({ user_id })) });
  for (let i = 0; i < 3; i++) {
    pool.learn((await browser.ok('hooks.create', { chat_id: group.chat_id, name: `Hook ${i}` })).hook);
  }
  const { webhook_id } = webhook;
  pool.learn(await owner.ok('webhooks.replay', { webhook_id, from_event_id: 1 }));
  await eventually('the webhook has deliveries', async () => {
    const { deliveries } = await owner.ok('webhooks.deliveries', { webhook_id });
    pool.learn(deliveries);
    return deliveries.length > 0 || undefined;
  });
}
