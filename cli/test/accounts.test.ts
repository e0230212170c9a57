import { describe, expect, test } from 'bun:test';
import { PassThrough } from 'node:stream';
import { addUser } from '@parley/server/auth/administer.ts';
import { checkLink, createPasswordLink } from '@parley/server/auth/links.ts';
import { onAnyEngine } from '@parley/server/test/support/engines.ts';
import { accessOf, works } from '@parley/server/test/support/oauth.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { eventually } from '../../sdk/test/eventually.ts';
import { failed, parley, said } from './parley.ts';
import { RunningCommand } from './running-command.ts';
import { AtTerminal } from './spawned-command.ts';

const old = 'the password of yesterday';
const fresh = 'the password of tomorrow';
const operator = { userId: null, appId: 0, address: null };

onAnyEngine('accounts beside a running server', (engine) => {
  let aheadMs = 0;
  const server = serverFor(engine, {}, { now: () => Date.now() + aheadMs });

  const person = async (name: string) => {
    const { user_id } = await addUser(accessOf(server()), { name, isAdmin: false, password: old });
    return user_id;
  };

  /** The cookie of somebody who signs in, or undefined where that is refused. */
  async function signIn(name: string, password: string): Promise<string | undefined> {
    const response = await fetch(`${server().url}/sign-in`, {
      method: 'POST',
      body: new URLSearchParams({ name, password }),
      headers: { 'sec-fetch-site': 'same-origin' },
      redirect: 'manual',
    });
    return response.headers
      .getSetCookie()
      .find((cookie) => cookie.includes('session'))
      ?.split(';')[0];
  }

  async function isSignedIn(cookie: string): Promise<boolean> {
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    return (await fetch(`${server().url}/api/users.php?action=me`, { headers })).ok;
  }

  describe('user password', () => {
    test('sets it, and ends sessions and access tokens within two seconds', async () => {
      await person('ada');
      const cookie = (await signIn('ada', old)) ?? '';
      const token = await server().token('ada');
      expect(await works(server(), token)).toBe(true);
      expect(await isSignedIn(cookie)).toBe(true);
      expect(await said(['user', 'password', 'ada', '--password-stdin'], server().env, `${fresh}\n`)).toBe(
        'Set the password of ada. All their sessions, access tokens and app authorizations ended.',
      );
      const answers = [await signIn('ada', old), await signIn('ada', fresh)];
      expect(answers).toEqual([undefined, expect.any(String)]);
      aheadMs += 2_000;
      expect(await isSignedIn(cookie)).toBe(false);
      expect(await works(server(), token)).toBe(false);
    });

    test('gives one to somebody who had none', async () => {
      await server().user('nomi');
      expect(await signIn('nomi', fresh)).toBeUndefined();
      await said(['user', 'password', 'nomi', '--password', fresh], server().env);
      expect(await signIn('nomi', fresh)).toBeString();
    });

    test('ends links with which another could be chosen', async () => {
      const userId = await person('lena');
      const { secret } = await createPasswordLink(accessOf(server()), operator, userId);
      expect(await checkLink(accessOf(server()), 'password', secret)).toBeDefined();
      await said(['user', 'password', 'lena', '--password', fresh], server().env);
      expect(await checkLink(accessOf(server()), 'password', secret)).toBeUndefined();
    });

    test('is written down without the password', async () => {
      const user_id = await person('olga');
      await said(['user', 'password', 'olga', '--password', fresh], server().env);
      const { entries } = JSON.parse(await said(['audit', '--act', 'password_changed', '--json'], server().env));
      const entry = entries.find((e: { details: { user_id: number } }) => e.details.user_id === user_id);
      expect(entry).toEqual({
        audit_id: expect.any(Number),
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        act: 'password_changed',
        user_id: null,
        user_name: null,
        app_id: 0,
        address: null,
        details: { user_id },
      });
    });

    test('refuses what cannot be', async () => {
      await person('rosa');
      await said(['bot', 'add', 'rosabot', '--owner', 'rosa'], server().env);
      const refused = await Promise.all([
        parley(['user', 'password', 'nobody', '--password', fresh], server().env),
        parley(['user', 'password', 'rosabot', '--password', fresh], server().env),
        parley(['user', 'password', 'rosa', '--password', 'short'], server().env),
        parley(['user', 'password', 'rosa', '--password', 'password123'], server().env),
        parley(['user', 'password', 'rosa'], server().env),
      ]);
      expect(refused).toEqual([
        failed(1, 'There is no user named nobody, or the user is disabled.'),
        failed(1, 'rosabot is a bot, and this is for people.'),
        failed(1, 'The password must be at least 10 characters.'),
        failed(1, 'The password is one of the passwords that are tried first: choose another.'),
        failed(2, 'Give --password or --password-stdin. See: npx parley user password --help'),
      ]);
      expect(await signIn('rosa', old)).toBeString();
    });

    describe('at a terminal', () => {
      /** Types one text at each prompt. Returns the text on the terminal and the exit code. */
      async function typing(name: string, ...answers: string[]): Promise<{ seen: string; code: number }> {
        const keys = new PassThrough();
        const surroundings = { env: { ...server().env, NO_COLOR: '1' }, stdin: keys, isTerminal: true };
        const command = new RunningCommand(['user', 'password', name], surroundings);
        for (const [i, answer] of answers.entries()) {
          await eventually('a question', () => command.context.seen.split(': ').length > i + 1);
          keys.write(answer);
        }
        const { code } = await command.end();
        return { code, seen: command.context.seen };
      }

      test('it is asked for twice, and never shown', async () => {
        await person('tess');
        const { code, seen } = await typing('tess', `${fresh}\r`, `${fresh}\r`);
        expect({ code, seen }).toEqual({
          code: 0,
          seen: 'New password: \nRepeat password: \nSet the password of tess. All their sessions, access tokens and app authorizations ended.\n',
        });
        expect(await signIn('tess', fresh)).toBeString();
      });

      test('it can be mended while it is typed, and pasted twice at once', async () => {
        await person('toni');
        expect((await typing('toni', `${fresh}xy\x7f\x7f\r${fresh}\r`)).code).toBe(0);
        expect(await signIn('toni', fresh)).toBeString();
      });

      test('nothing changes if the passwords differ or none is typed', async () => {
        await person('tina');
        const outcomes = [await typing('tina', `${fresh}\r`, `${fresh}!\r`), await typing('tina', '\x03')];
        expect(outcomes).toEqual([
          { code: 1, seen: 'New password: \nRepeat password: \nThe passwords differ. Try again.\n' },
          { code: 1, seen: 'New password: \nNo password was given.\n' },
        ]);
        expect(await signIn('tina', old)).toBeString();
      });
    });
  });

  describe('bot add', () => {
    test('adds a bot of somebody, which works with a token and is marked among the users', async () => {
      const owner_id = await person('bea');
      const words = ['bot', 'add', 'beabot', '--owner', 'bea', '--display-name', 'Bea 🤖', '--json'];
      const bot = JSON.parse(await said(words, server().env));
      expect(bot).toMatchObject({ name: 'beabot', kind: 'bot', owner_id, display_name: 'Bea 🤖', is_admin: false });
      const token = await said(['token', 'create', 'beabot'], server().env);
      expect(await works(server(), token)).toBe(true);
      const line = (await said(['user', 'list'], server().env)).split('\n').find((l) => l.includes('beabot'));
      expect(line).toMatch(/^\d+ +beabot +bot +Bea 🤖 +\d{4}-\d\d-\d\d \d\d:\d\d {2}of bea$/);
    });

    test('tells the id in a plain line, and is written down', async () => {
      const owner_id = await person('bill');
      const { stdout, stderr } = await parley(['bot', 'add', 'billbot', '--owner', 'BILL'], server().env);
      const [, id] = /^Added the bot billbot with id (\d+)\.\n$/.exec(stdout) ?? [];
      expect(stderr).toBe('Create a token for it: npx parley token create billbot\n');
      const { entries } = JSON.parse(await said(['audit', '--act', 'bot_created', '--json'], server().env));
      const details = entries.map((entry: { details: object }) => entry.details);
      expect(details).toContainEqual({ bot_id: Number(id), name: 'billbot', owner_id });
    });

    test('refuses what cannot be', async () => {
      await person('bob');
      await said(['bot', 'add', 'bobbot', '--owner', 'bob'], server().env);
      const refused = await Promise.all([
        parley(['bot', 'add', 'other'], server().env),
        parley(['bot', 'add', 'other', '--owner', 'nobody'], server().env),
        parley(['bot', 'add', 'other', '--owner', 'bobbot'], server().env),
        parley(['bot', 'add', 'BOB', '--owner', 'bob'], server().env),
        parley(['bot', 'add', 'two words', '--owner', 'bob'], server().env),
        parley(['token', 'create', 'bobbot', '--scopes', 'admin'], server().env),
      ]);
      expect(refused).toEqual([
        failed(2, '--owner is missing. See: npx parley bot add --help'),
        failed(1, 'There is no user named nobody, or the user is disabled.'),
        failed(1, 'bobbot is a bot, and this is for people.'),
        failed(1, 'The name BOB is taken.'),
        failed(1, 'The name must be 1 to 40 of'),
        failed(1, 'bobbot is not an administrator'),
      ]);
    });
  });

  describe('audit', () => {
    test('tells who did what, from where and to whom, the newest last', async () => {
      const user_id = await person('vera');
      await signIn('vera', 'a wrong password');
      await signIn('vera', old);
      const lines = (await said(['audit', '--user', 'vera'], { ...server().env, TZ: 'Asia/Tokyo' })).split('\n');
      expect(lines).toEqual([
        expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}vera {2}Failed to sign in {2}127\.0\.0\.1 {2}/),
        expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}vera {2}Signed in {10}127\.0\.0\.1 {2}/),
      ]);
      const { entries } = JSON.parse(await said(['audit', '--act', 'user_created', '--json'], server().env));
      const made = entries.find((entry: { details: { name: string } }) => entry.details.name === 'vera');
      expect(made).toMatchObject({ user_id: null, details: { user_id, name: 'vera', is_admin: false } });
      const shown = (await said(['audit', '--act', 'user_created', '--limit', '1000'], server().env)).split('\n');
      expect(shown.find((line) => line.includes('name: vera'))).toContain(
        `  (operator)  Created a user  -  user_id: ${user_id}, name: vera, is_admin: false`,
      );
    });

    test('shows the newest matching entries, up to the limit', async () => {
      await person('lara');
      for (let i = 0; i < 3; i++) await signIn('lara', old);
      const ids = async (...words: string[]): Promise<number[]> => {
        const { entries } = JSON.parse(await said(['audit', '--user', 'lara', '--json', ...words], server().env));
        return entries.map((entry: { audit_id: number }) => entry.audit_id);
      };
      const all = await ids();
      expect(all).toHaveLength(3);
      expect(all).toEqual([...all].sort((a, b) => a - b));
      expect(await ids('--limit', '2')).toEqual(all.slice(1));
      expect(await ids('--act', 'signed_out')).toEqual([]);
    });

    test('escapes text that would control the terminal', async () => {
      const attack = 'red \u001b[31m csi \u009b31m turned \u202e over\rwrite';
      await server().engine.write((tx) =>
        tx.run('INSERT INTO audit (at, act, user_id, app_id, address, details) VALUES ($1, $2, NULL, 0, $3, $4)', [
          1,
          `an act ${attack}`,
          `an address ${attack}`,
          JSON.stringify({ [`a key ${attack}`]: attack, list: [attack] }),
        ]),
      );
      const [people, programs] = await Promise.all([
        said(['audit', '--limit', '100000'], server().env),
        said(['audit', '--limit', '100000', '--json'], server().env),
      ]);
      expect(people).toContain(String.raw`an address red \u{1b}[31m csi \u{9b}31m turned \u{202e} over\u{d}write`);
      expect(people + programs).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
      expect(JSON.parse(programs).entries).toContainEqual(expect.objectContaining({ address: `an address ${attack}` }));
    });

    test('refuses an unknown user or act', async () => {
      const refused = await Promise.all([
        parley(['audit', '--act', 'sined_in'], server().env),
        parley(['audit', '--user', 'nobody'], server().env),
        parley(['audit', '--limit', '0'], server().env),
      ]);
      expect(refused).toEqual([
        failed(2, 'There is no act "sined_in". Did you mean signed_in? See: npx parley audit --help'),
        failed(1, 'There is no user named nobody.'),
        failed(2, '--limit must be a whole number from 1, not "0".'),
      ]);
    });
  });
});

describe('a real terminal', () => {
  const server = serverFor('sqlite');

  test('never shows the password that is typed there', async () => {
    await server().user('tess');
    await using command = new AtTerminal(['user', 'password', 'tess'], server().env);
    for (const question of ['New password: ', 'Repeat password: ']) {
      await eventually('the question', () => command.seen.endsWith(question));
      command.type(`${fresh}\r`);
    }
    expect(await command.end()).toEqual({ code: 0, signal: null });
    const seen =
      'New password: \r\nRepeat password: \r\nSet the password of tess. All their sessions, access tokens and app authorizations ended.\r\n';
    await eventually('the answer', () => command.seen.length >= seen.length);
    expect(command.seen).toBe(seen);
  });
});
