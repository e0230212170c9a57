import { expect, test } from 'bun:test';
import { BrowserLike, goodPassword, person } from '../support/browser-like.ts';
import { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { serverFor } from '../support/server.ts';

onAnyEngine('a webhook that was registered in a session', (engine) => {
  let now = Date.now();
  const server = serverFor(engine, {}, { now: () => now });

  test.each([0, 3_600_000])('ends with a password change after the clock was set back by %d ms', async (setBackMs) => {
    const { name, user_id } = await person(server());
    const owner = new Client(server().url, await server().token(name), user_id);
    const browser = new BrowserLike(server().url);
    await browser.signIn(name, goodPassword);
    const registered = await fetch(`${server().url}/api/webhooks.php?action=register`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'sec-fetch-site': 'same-origin',
        cookie: `parley_session=${browser.session}`,
      },
      body: JSON.stringify({ url: 'http://127.0.0.1:9/', events: ['new_message'], secret: 's' }),
    });
    expect(registered.status).toBe(200);
    now -= setBackMs;
    const next = 'another fine long password';
    await browser.post('/password', { current: goodPassword, password: next, again: next });
    const { webhooks } = await owner.ok('webhooks.list', {});
    expect(webhooks).toMatchObject([{ status: 'disabled', disabled_reason: 'access_revoked' }]);
  });
});
