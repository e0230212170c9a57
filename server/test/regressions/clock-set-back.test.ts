import { afterEach, expect, test } from 'bun:test';
import { type Environment, freshEnvironment, onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { users } from '../support/people.ts';
import { receiverFor } from '../support/receiver.ts';
import { startServer, type TestServer } from '../support/server.ts';

const hours = 3_600_000;

onAnyEngine('a webhook that waits for an endpoint which was down', (engine) => {
  const receiver = receiverFor();
  /** Ahead of the true time, until it is set right. */
  let ahead = 0;
  let server: TestServer | undefined;
  afterEach(() => server?.stop());

  const start = async (env: Environment) => {
    server = await startServer(env, { sweepMs: 20, now: () => Date.now() + ahead });
    return server;
  };

  /** A webhook whose first delivery has failed, by a clock that is six hours ahead. */
  const scene = async (env: Environment) => {
    ahead = 6 * hours;
    const { ada } = await users(await start(env), 'ada');
    let isUp = false;
    const endpoint = receiver().endpoint(() => (isUp ? 200 : { status: 503, headers: { 'retry-after': '600' } }));
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'g', participants: [] })).group;
    const registration = { url: endpoint.url, events: ['new_message'], secret: 's' };
    const { webhook_id } = (await ada.ok('webhooks.register', registration)).webhook;
    for (const content of ['one', 'two']) await ada.ok('messages.send_message', { chat_id, content });
    await eventually('the endpoint is left alone', async () => {
      const { webhook } = await ada.ok('webhooks.get', { webhook_id });
      return webhook.next_attempt_at ?? undefined;
    });
    isUp = true;
    return endpoint;
  };

  const delivered = ['one', 'two'];
  const arriving = (contents: () => readonly unknown[]) =>
    eventually('everything is delivered', async () => contents().slice(-2).join() === delivered.join() || undefined);

  test('is tried soon after the clock was set back', async () => {
    const endpoint = await scene(await freshEnvironment(engine));
    ahead = 0;
    await arriving(() => endpoint.contents);
    expect(endpoint.contents.slice(-2)).toEqual(delivered);
  });

  test('is tried soon after a start, where the clock was set back before it', async () => {
    const env = await freshEnvironment(engine);
    const endpoint = await scene(env);
    await server?.stop();
    ahead = 0;
    await start(env);
    await arriving(() => endpoint.contents);
    expect(endpoint.contents.slice(-2)).toEqual(delivered);
  });
});
