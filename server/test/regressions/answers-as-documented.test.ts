import { expect, test } from 'bun:test';
import { listOperations } from '@parley/contract';
import { onAnyEngine } from '../support/engines.ts';
import { authorizeApp, newApp } from '../support/oauth.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { expectRefusal, request } from '../support/wire.ts';

onAnyEngine('answers', (engine) => {
  const server = serverFor(engine);

  test('of operations on tokens tell an app that it may not, with a code that their rows have', async () => {
    const { owner } = await users(server(), 'owner');
    const { access } = await authorizeApp(server(), await newApp(server(), owner), owner);
    for (const { resource, action, method, errors, example } of listOperations()) {
      if (resource !== 'tokens') continue;
      const reply = await request(`${server().url}/api/${resource}.php?action=${action}`, {
        method,
        headers: { authorization: `Bearer ${access}`, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: JSON.stringify(example.input) }),
      });
      expectRefusal(reply, 'forbidden');
      expect(errors).toContain('forbidden');
    }
  });

  test('to a POST beside every operation are errors of the API, not pages', async () => {
    for (const path of ['/api/users.php/?action=me', '/api/users.PHP?action=me', '/api/', '/api', '/nowhere']) {
      const reply = await request(`${server().url}${path}`, { method: 'POST', body: new URLSearchParams({ a: '1' }) });
      expectRefusal(reply, 'not_found');
    }
  });
});
