import 'fake-indexeddb/auto';
import type { SessionClient } from '@parley/server/test/support/client.ts';
import type { TestServer } from '@parley/server/test/support/server.ts';
import { inSession } from '@parley/server/test/support/visitor.ts';
import type { Clock } from '@parley-chat/sdk';
import { systemClock } from '@parley-chat/sdk/clock.ts';
import { openSession, type Session, type SessionOptions } from '../session.ts';

/** Waits for a condition. The time limit of the test catches hangs. */
export async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 2_000; tries++) {
    if (await isTrue()) return;
    await Bun.sleep(5);
  }
  throw new Error(`never: ${what}`);
}

/** Retries come soon. */
const impatient: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 20), signal) };

/** A browser: the cookie of a session, and a network that can be cut. */
export class TestBrowser {
  readonly name: string;
  readonly client: SessionClient;
  isOnline = true;
  /** Called before each request. May throw or wait. */
  before: (url: string, init: RequestInit) => unknown = () => {};
  /** Called after each response, which is lost if it throws. */
  after: (url: string) => unknown = () => {};
  readonly tabs: Session[] = [];
  readonly errors: unknown[] = [];
  endings = 0;
  now: () => number = Date.now;

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
    const headers = new Headers(init.headers);
    headers.set('cookie', `parley_session=${this.client.token}`);
    headers.set('sec-fetch-site', 'same-origin');
    const response = await fetch(url, { ...init, headers });
    await this.after(url);
    return response;
  };

  async open(more: Partial<SessionOptions> = {}): Promise<Session> {
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
      ...more,
    });
    this.tabs.push(tab);
    return tab;
  }

  close(): void {
    for (const tab of this.tabs.splice(0)) tab.stop();
  }
}
