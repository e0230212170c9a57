import { expect, test } from 'bun:test';
import { onAnyEngine } from '../support/engines.ts';
import { serverFor } from '../support/server.ts';
import { inSession } from '../support/visitor.ts';
import { complaint, expectRefusal } from '../support/wire.ts';

onAnyEngine('a display name', (engine) => {
  const server = serverFor(engine);
  let count = 0;

  test('has no invisible characters, with which it could look like that of another', async () => {
    const root = await server().user('operator', { admin: true });
    const browser = await inSession(server(), root);
    for (const mark of [
      '\u200b',
      '\u200c',
      '\u200d',
      '\u00ad',
      '\u2060',
      '\ufeff',
      '\u3164',
      '\u2800',
      '\ufe0f',
      '\u{e0041}',
      '\u200e',
    ]) {
      const display_name = `1${mark}Ada`;
      const name = `user${++count}`;
      const refused = expectRefusal(await root.call('users.create', { name, display_name }), 'validation_failed');
      expect({ mark, complaint: complaint(refused, 'display_name') }).toEqual({
        mark,
        complaint: 'must not contain invisible characters',
      });
      const bot = expectRefusal(await browser.call('bots.create', { name, display_name }), 'validation_failed');
      expect(complaint(bot, 'display_name')).toBe('must not contain invisible characters');
      const asked = { name: display_name, redirects: ['https://a.example/x'] };
      const app = expectRefusal(await browser.call('apps.register', asked), 'validation_failed');
      expect(complaint(app, 'name')).toBe('must not contain invisible characters');
    }
  });

  test('has the joiners that scripts and emoji need', async () => {
    const root = await server().user('administrator', { admin: true });
    for (const display_name of ['علی‌رضا', 'क्‍ष', 'Ada 👩‍💻', 'Ada ❤️', '🏳️‍🌈', 'José Müller 李', 'Ada 3\ufe0f\u20e3']) {
      const { user } = await root.ok('users.create', { name: `user${++count}`, display_name });
      expect(user.display_name).toBe(display_name);
    }
  });
});
