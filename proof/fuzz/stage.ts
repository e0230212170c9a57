import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../server/test/support/cleanup.ts';
import { type EngineName, freshEnvironment } from '../../server/test/support/engines.ts';
import { attach, type ServerProcess, spawnServer, type TestServer } from '../../server/test/support/server.ts';
import { eventually } from '../../server/test/support/world.ts';
import { Pool } from './calls/value.ts';
import { gather, type People } from './people.ts';
import { attempt, type Draw, type Subject } from './subject.ts';

/** Calls after which everybody and everything is made anew: some of them undo what others need. */
const callsOfAPlay = 400;

/** A server in a process of its own, and things in it for calls to be about. */
export class Stage {
  readonly server: TestServer;
  readonly #engine: EngineName;
  readonly #process: ServerProcess;
  /** The file that the server logs into. */
  readonly #log: string;
  readonly #statuses = new Map<number, number>();
  #people: Promise<People> | undefined;
  #calls = 0;
  /** Bytes of the log whose faults have been told. */
  #told = 0;
  /** The ids that are known in the present play. */
  pool = new Pool();

  private constructor(engine: EngineName, server: TestServer, process: ServerProcess, log: string) {
    this.#engine = engine;
    this.server = server;
    this.#process = process;
    this.#log = log;
  }

  /** Calls go to the address that `through` makes of the server's own. */
  static async open(engine: EngineName, through = (url: string): string => url): Promise<Stage> {
    const env = {
      ...(await freshEnvironment(engine)),
      LOG_LEVEL: 'warn',
      PARLEY_SIGN_IN_LIMIT: 'off',
      PARLEY_SIGN_UP: 'open',
      PARLEY_FILE_LIMIT: '65536',
    };
    const log = join(temporaryFolder(), 'log');
    const process = await spawnServer(env, log);
    return new Stage(engine, await attach(through(process.url), env), process, log);
  }

  get url(): string {
    return this.server.url;
  }

  /** What was answered so far, by status. */
  get statuses(): ReadonlyMap<number, number> {
    return this.#statuses;
  }

  /** The people of the present play; new ones where the last play is over. */
  people(): Promise<People> {
    if (!this.#people || this.#calls >= callsOfAPlay) this.#people = this.#begin();
    return this.#people;
  }

  async #begin(): Promise<People> {
    this.#calls = 0;
    const pool = new Pool();
    const people = await gather(this.server);
    await furnish(people, pool);
    this.pool = pool;
    return people;
  }

  /** Some of what everybody needs is gone. */
  spoil(): void {
    this.#people = undefined;
  }

  /** Sends a request as it is. */
  async send(path: string, init: RequestInit): Promise<Response> {
    this.#calls++;
    const signal = AbortSignal.timeout(hangMs);
    const response = await fetch(`${this.url}${path}`, { redirect: 'manual', ...init, signal });
    this.#statuses.set(response.status, (this.#statuses.get(response.status) ?? 0) + 1);
    return response;
  }

  /** Whether it still serves, and has met with nothing that it did not expect. */
  async check(): Promise<void> {
    const health = await this.send('/healthz', {});
    if ((await health.text()) !== 'ok\n') throw new Error(`/healthz answers ${health.status}`);
    const fault = this.takeFault();
    if (fault !== undefined) throw new Error(`the server has logged a fault: ${fault}`);
  }

  /** Tries a subject, and looks whether the server is well afterwards. */
  async attempt(subject: Subject, draw: Partial<Draw> = {}): Promise<number> {
    try {
      const tried = await attempt(subject, `http --database ${this.#engine}`, draw);
      await this.check();
      return tried;
    } catch (error) {
      // What this subject has led to is not held against the next one.
      this.takeFault();
      throw error;
    }
  }

  /** The last fault in the server's log that was not told yet: each is told once. */
  takeFault(): string | undefined {
    const logged = readFileSync(this.#log);
    // Of a line that is still being written the rest is to come.
    const whole = logged.lastIndexOf('\n') + 1;
    const fresh = logged.toString('utf8', this.#told, whole);
    this.#told = whole;
    return fresh.split('\n').findLast((line) => line.includes('"level":"error"'));
  }

  /** Ends the server. Throws where it does not end as one does that is well. */
  async close(): Promise<void> {
    await this.server.stop();
    const code = await this.#process.kill('SIGTERM');
    if (code !== 0) throw new Error(`the server ended with ${code}: ${readFileSync(this.#log)}`);
  }
}

/** Catches hangs, and nothing else: a busy machine may take many times as long as an idle one. */
const hangMs = 60_000;

/** A group and a channel with messages, a file, a webhook that has something to deliver, and tokens to be revoked. */
async function furnish(people: People, pool: Pool): Promise<void> {
  const { owner, admin, member, bot, stranger } = people;
  const participants = [admin, member, bot].map(({ userId }) => userId);
  const { group } = await owner.ok('messages.create_group', { name: 'Group', participants });
  await owner.ok('chats.set_role', { chat_id: group.chat_id, user_id: admin.userId, role: 'admin' });
  const { channel } = await owner.ok('messages.create_channel', { name: 'Channel', participants });
  const { chat } = await owner.ok('messages.create_direct', { user_id: stranger.userId });
  const chats = [group, channel, chat];
  const hook = { url: 'http://127.0.0.1:9/', events: ['*'], secret: 's' };
  const { webhook } = await owner.ok('webhooks.register', hook);
  pool.learn({ webhook });
  for (let i = 0; i < 3; i++) pool.learn(await owner.ok('webhooks.register', hook));
  for (const { chat_id } of chats) {
    pool.learn(await owner.ok('messages.send_message', { chat_id, content: 'some words' }));
    pool.learn(await owner.ok('messages.send_message', { chat_id, file: new File(['a file'], 'file.txt') }));
  }
  pool.learn(await member.ok('messages.send_message', { chat_id: group.chat_id, content: 'more words' }));
  pool.learn(await owner.ok('tokens.create', { name: 'spare' }));
  pool.learn(await owner.ok('events.list', {}));
  pool.learn({
    chats,
    people: [owner, admin, member, bot, stranger].map(({ userId: user_id }) => ({ user_id })),
  });
  const { webhook_id } = webhook;
  pool.learn(await owner.ok('webhooks.replay', { webhook_id, from_event_id: 1 }));
  await eventually('the webhook has something to deliver', async () => {
    const { deliveries } = await owner.ok('webhooks.deliveries', { webhook_id });
    pool.learn(deliveries);
    return deliveries.length > 0 || undefined;
  });
}
