import 'fake-indexeddb/auto';
import { expect } from 'bun:test';
import type { SessionClient } from '@parley/server/test/support/client.ts';
import type { TestServer } from '@parley/server/test/support/server.ts';
import { inSession } from '@parley/server/test/support/visitor.ts';
import type { Clock } from '@parley-chat/sdk';
import { systemClock } from '@parley-chat/sdk/clock.ts';
import { openSession, type Session, type SessionOptions } from '../session.ts';

/** Catches hangs, and nothing else. */
const hangMs = 60_000;

/** Waits for a condition. */
export async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + hangMs; performance.now() < deadline; await Bun.sleep(5)) {
    if (await isTrue()) return;
  }
  throw new Error(`never: ${what}`);
}

/** Waits until a value is as expected. Fails with the difference if it never is. */
export async function becomes<Value>(read: () => Promise<Value>, expected: Value): Promise<void> {
  await until('as expected', async () => Bun.deepEquals(await read(), expected)).catch(async () =>
    expect<unknown>(await read()).toEqual(expected),
  );
}

/** Retries come soon. */
const impatient: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 20), signal) };

/** The storage of a browser, which Bun does not have. */
export class TestStorage extends Map<string, string> implements Storage {
  get length(): number {
    return this.size;
  }
  key = (index: number): string | null => [...this.keys()][index] ?? null;
  getItem = (name: string): string | null => this.get(name) ?? null;
  setItem = (name: string, value: string): void => void this.set(name, value);
  removeItem = (name: string): void => void this.delete(name);
}

/** A channel between tabs that can be silenced. */
class TestChannel extends BroadcastChannel {
  isFrozen = false;

  override postMessage(message: unknown): void {
    if (!this.isFrozen) super.postMessage(message);
  }

  override addEventListener(type: string, listener: unknown): void {
    super.addEventListener(type, (event) => {
      if (!this.isFrozen) (listener as (event: Event) => void)(event);
    });
  }
}

/** A browser: the cookie of a session, and a network that can be cut. */
export class TestBrowser {
  readonly name: string;
  readonly client: SessionClient;
  isOnline = true;
  /** Called before each request. May throw or wait. */
  before: (url: string, init: RequestInit) => unknown = () => {};
  /** Called after each response, which is lost if it throws. */
  after: (url: string) => unknown = () => {};
  /** Returns the response to a request that is not to reach the server. */
  respond: (url: string) => Response | undefined = () => undefined;
  readonly tabs: Session[] = [];
  readonly #channels = new Map<Session, readonly TestChannel[]>();
  readonly errors: unknown[] = [];
  endings = 0;
  now: () => number = Date.now;
  readonly storage = new TestStorage();

  constructor(name: string, client: SessionClient) {
    this.name = name;
    this.client = client;
  }

  static async of(server: TestServer, name: string, user: { userId: number }): Promise<TestBrowser> {
    return new TestBrowser(name, await inSession(server, user));
  }

  readonly #fetch = async (url: string, init: RequestInit): Promise<Response> => {
    if (!this.isOnline) throw new TypeError('offline');
    await this.before(url, init);
    const made = this.respond(url);
    if (made) return made;
    const headers = new Headers(init.headers);
    headers.set('cookie', `parley_session=${this.client.token}`);
    headers.set('sec-fetch-site', 'same-origin');
    const response = await fetch(url, { ...init, headers });
    await this.after(url);
    return response;
  };

  async open(more: Partial<SessionOptions> = {}): Promise<Session> {
    const channels: TestChannel[] = [];
    const tab = await openSession({
      url: this.client.url,
      me: { user_id: this.client.userId, name: this.name, display_name: this.name, is_admin: false },
      session: this.client.token,
      ended: () => {
        this.endings++;
      },
      onError: (error) => this.errors.push(error),
      fetch: this.#fetch,
      clock: impatient,
      now: () => this.now(),
      storage: this.storage,
      openChannel: (name) => {
        const channel = new TestChannel(name);
        channels.push(channel);
        return channel;
      },
      ...more,
    });
    this.tabs.push(tab);
    this.#channels.set(tab, channels);
    return tab;
  }

  /** Keeps a tab from hearing the others and from telling them anything. Returns a function that ends this. */
  freeze(tab: Session): () => void {
    const setFrozen = (isFrozen: boolean) => {
      for (const channel of this.#channels.get(tab) ?? []) channel.isFrozen = isFrozen;
    };
    setFrozen(true);
    return () => setFrozen(false);
  }

  close(): void {
    for (const tab of this.tabs.splice(0)) tab.stop();
  }
}
