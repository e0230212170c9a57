import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { inChromium, visitors } from '../support/chromium.ts';
import type { Client } from '../support/client.ts';
import { type Environment, freshEnvironment } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { eventTip, users } from '../support/people.ts';
import { quietPort } from '../support/quiet-port.ts';
import { attach, type ServerProcess, spawnServer, type TestServer } from '../support/server.ts';
import { logged, streamUrl } from '../support/streams.ts';
import { signedIn } from '../support/visitor.ts';

/** The pages that there are have no scripts; this stands for one that has. */
const withScripts = { bypassCSP: true };

/** The events that a page has received, and the state of its stream. */
interface Told {
  readonly events: { id: string; event: string; data: string }[];
  opened: number;
  source: EventSource;
}

/** Has a page follow its events, with what browsers have for it. */
const follow = (page: Page, address: string, withCredentials = false) =>
  page.evaluate(
    ([url, credentials]) => {
      const source = new EventSource(url, { withCredentials: credentials });
      const told: Told = { events: [], opened: 0, source };
      Object.assign(globalThis, { told });
      source.onopen = () => told.opened++;
      for (const name of ['new_message', 'message_read']) {
        source.addEventListener(name, ({ type, data, lastEventId }: MessageEvent<string>) =>
          told.events.push({ id: lastEventId, event: type, data }),
        );
      }
    },
    [address, withCredentials] as const,
  );

const seen = (page: Page) =>
  page.evaluate(() => {
    const { events, opened, source } = (globalThis as unknown as { told: Told }).told;
    return { events, opened, state: source.readyState };
  });
type Seen = Awaited<ReturnType<typeof seen>>;

const becomes = (page: Page, what: string, isSo: (now: Seen) => boolean): Promise<Seen> =>
  eventually(what, async () => {
    const now = await seen(page);
    return isSo(now) ? now : undefined;
  });

const closed = 2;

inChromium('a stream in a browser', () => {
  const visit = visitors();
  let env: Environment;
  let process: ServerProcess;
  let server: TestServer;
  let ada: Client;
  let bob: Client;
  let chat_id: number;
  beforeAll(async () => {
    // The port stays the same after a restart.
    env = { ...(await freshEnvironment('sqlite')), PORT: String(await quietPort()) };
    process = await spawnServer(env);
    server = await attach(process.url, env);
    ({ ada, bob } = await users(server, 'ada', 'bob'));
    chat_id = (await ada.ok('messages.create_group', { name: 'g', participants: [bob.userId] })).group.chat_id;
  });
  afterAll(async () => {
    await server?.stop();
    await process?.kill('SIGTERM');
  });

  const say = async (content: string) =>
    (await ada.ok('messages.send_message', { chat_id, content })).message.message_id;

  /** Bob, signed in, with a page of ours. */
  async function atHome(): Promise<{ page: Page; signOut: () => Promise<unknown> }> {
    const page = await visit(withScripts);
    const visitor = await signedIn(server, bob);
    const cookie = { name: 'parley_session', value: visitor.session ?? '', url: server.url };
    await page.context().addCookies([cookie]);
    await page.goto(`${server.url}/password`);
    return { page, signOut: () => visitor.post('/sign-out') };
  }

  /** A page of somebody else, in the browser that Bob is signed in with. */
  async function elsewhere(host: string): Promise<{ page: Page; stop: () => Promise<void> }> {
    const other = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () =>
        new Response('<!doctype html><title>Elsewhere</title>', { headers: { 'content-type': 'text/html' } }),
    });
    const { page } = await atHome();
    await page.goto(`http://${host}:${other.port}/`);
    return { page, stop: () => other.stop(true) };
  }

  test('follows what happens with the session’s cookie, and comes back by itself after every end of the server', async () => {
    const { page } = await atHome();
    const after = await eventTip(bob);
    await follow(page, '/api/events.php?action=stream');
    await becomes(page, 'it is open', ({ opened }) => opened === 1);
    await bob.ok('messages.mark_read', { chat_id, message_id: await say('at first') });
    await becomes(page, 'both were told', ({ events }) => events.length === 2);
    for (const [times, signal] of (['SIGTERM', 'SIGKILL'] as const).entries()) {
      await process.kill(signal);
      process = await spawnServer(env);
      // Before the browser is back, and after.
      await say(`missed after ${signal}`);
      await becomes(page, `it is back after ${signal}`, ({ opened }) => opened === times + 2);
      await say(`told after ${signal}`);
      await becomes(page, 'all were told', ({ events }) => events.length >= 4 + 2 * times);
    }
    const { events } = await seen(page);
    const messages = events.filter(({ event }) => event === 'new_message');
    const rows = (await logged(bob, after)).map(({ event_id, ...body }) => [String(event_id), body]);
    expect(messages.map(({ id, data }) => [id, JSON.parse(data)])).toEqual(rows);
    expect(events.filter(({ event }) => event === 'message_read')).toHaveLength(1);
  });

  test('ends with the session, and does not come back', async () => {
    const { page, signOut } = await atHome();
    await follow(page, '/api/events.php?action=stream');
    await becomes(page, 'it is open', ({ opened }) => opened === 1);
    await signOut();
    const { opened } = await becomes(page, 'it has given up', ({ state }) => state === closed);
    expect(opened).toBe(1);
  });

  // `localhost` is another site than 127.0.0.1; another port of 127.0.0.1 is the same site, where cookies go along.
  for (const host of ['localhost', '127.0.0.1']) {
    test(`is not given to a page at ${host}, whatever cookies the browser has`, async () => {
      const { page, stop } = await elsewhere(host);
      for (const withCredentials of [true, false]) {
        await follow(page, streamUrl(server.url, { after: 0 }), withCredentials);
        const { opened, events } = await becomes(page, 'it has given up', ({ state }) => state === closed);
        expect({ opened, events }).toEqual({ opened: 0, events: [] });
      }
      await stop();
    });
  }

  test('is given to a page of another origin that has a token of its own', async () => {
    const { page, stop } = await elsewhere('localhost');
    const after = await eventTip(bob);
    await say('for anybody with a token');
    const text = await page.evaluate(
      async ([url, token, lastEventId]) => {
        const headers = { authorization: `Bearer ${token}`, 'last-event-id': lastEventId };
        const response = await fetch(url, { headers });
        const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
        let read = `${response.headers.get('x-request-id') === null ? 'no' : 'an'} id\n`;
        while (!read.includes('token"')) read += (await reader?.read())?.value ?? '';
        await reader?.cancel();
        return read;
      },
      [streamUrl(server.url), bob.token, String(after)] as const,
    );
    expect(text).toStartWith('an id\nretry: ');
    expect(text).toContain(`id: ${after}\n`);
    expect(text).toContain('event: new_message\ndata: {"event":"new_message"');
    await stop();
  });
});
