import { expect, test } from 'bun:test';
import { BrowserLike, goodPassword } from '../support/browser-like.ts';
import { onAnyEngine } from '../support/engines.ts';
import { serverFor } from '../support/server.ts';
import { inSession } from '../support/visitor.ts';
import { complaint, expectRefusal } from '../support/wire.ts';

onAnyEngine('a name that sounds like the service or like everybody', (engine) => {
  const server = serverFor(engine, { PARLEY_SIGN_UP: 'open' });

  test('is given neither at sign-up, nor to bots, nor by an access token', async () => {
    const root = await server().user('operator', { admin: true });
    const browser = await inSession(server(), root);
    for (const name of ['admin', 'Root', 'system', 'PARLEY', 'all', 'here', 'everyone', 'channel']) {
      const guest = new BrowserLike(server().url);
      const signUp = await guest.post('/sign-up', { name, password: goodPassword, again: goodPassword });
      expect({ name, status: signUp.status }).toEqual({ name, status: 422 });
      expect(signUp.words).toContain('This is reserved.');
      for (const refusal of [await browser.call('bots.create', { name }), await root.call('users.create', { name })])
        expect(complaint(expectRefusal(refusal, 'validation_failed'), 'name')).toBe('is reserved');
    }
    const guest = new BrowserLike(server().url);
    const free = await guest.post('/sign-up', { name: 'admins', password: goodPassword, again: goodPassword });
    expect(free.status).toBe(303);
  });

  test('is given to administrators, and by the operator', async () => {
    const root = await server().user('root', { admin: true });
    const { user } = await (await inSession(server(), root)).ok('users.create', { name: 'admin', is_admin: true });
    expect(user.name).toBe('admin');
    expect((await (await server().user('system')).ok('users.me', {})).user.name).toBe('system');
  });
});
