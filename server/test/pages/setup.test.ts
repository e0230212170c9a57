import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { countAdmins } from '../../store/access/users.ts';
import { BrowserLike, goodPassword, person } from '../support/browser-like.ts';
import { type Environment, freshEnvironment, onAnyEngine } from '../support/engines.ts';
import { serverFor, startServer, type TestServer } from '../support/server.ts';

const linkFile = (env: Environment) => join(env.PARLEY_DATA ?? '', 'setup-link');
const linkOf = (server: TestServer) => new URL(readFileSync(linkFile(server.env), 'utf8').trim()).pathname;
const filled = (name: string) => ({ name, password: goodPassword, again: goodPassword });

onAnyEngine('setting up', (engine) => {
  test('creates the first administrator with the link, once', async () => {
    const server = await startServer(await freshEnvironment(engine));
    const browser = new BrowserLike(server.url);
    expect((await browser.get('/')).words).toContain('Open the set-up link that the server printed');
    expect(statSync(linkFile(server.env)).mode & 0o777).toBe(0o600);
    const link = linkOf(server);

    expect((await browser.get(link)).words).toContain('you will be the first administrator');
    const done = await browser.post(link, { ...filled('ada'), display_name: 'Ada Lovelace' });
    expect({ status: done.status, location: done.location }).toEqual({ status: 303, location: '/' });
    expect((await browser.get('/')).html).toContain('data-display-name="Ada Lovelace"');
    expect((await browser.get('/settings')).words).toContain('Hello, Ada Lovelace');
    expect((await browser.get('/admin/users')).status).toBe(200);
    expect(existsSync(linkFile(server.env))).toBe(false);

    const late = new BrowserLike(server.url);
    const opened = await late.get(link);
    expect(opened.status).toBe(404);
    expect(opened.words).not.toContain('it worked');
    const tooLate = await late.post(link, filled('mallory'));
    expect(tooLate.status).toBe(404);
    expect(tooLate.words).toContain('If you pressed the button twice, it worked the first time. Sign in.');
    expect(tooLate.html).toContain('<a href="/sign-in" class="button">Sign in</a>');
    expect(tooLate.words).toContain('restart the server');
    expect(tooLate.words).toContain('npx parley user add <name> --admin');
    expect(late.session).toBeUndefined();
    expect((await late.signIn('ada', goodPassword)).status).toBe(303);
    await server.stop();
  });

  test('succeeds for one of many concurrent uses of the link', async () => {
    const server = await startServer(await freshEnvironment(engine));
    const link = linkOf(server);
    const names = ['ada', 'bob', 'cleo', 'dora'];
    const answers = await Promise.all(names.map((name) => new BrowserLike(server.url).post(link, filled(name))));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 404, 404, 404]);
    expect(await countAdmins(server.engine)).toBe(1);
    await server.stop();
  });

  test('prints another link at each start until there is an administrator', async () => {
    const env = await freshEnvironment(engine);
    const first = await startServer(env);
    const earlier = linkOf(first);
    await first.stop();
    const second = await startServer(env);
    const link = linkOf(second);
    expect(link).not.toBe(earlier);
    const browser = new BrowserLike(second.url);
    expect((await browser.post(link, filled('ada'))).status).toBe(303);
    // With the first administrator every such link ends, and not only the one that was used.
    expect((await new BrowserLike(second.url).post(earlier, filled('mallory'))).status).toBe(404);
    await second.stop();
    const third = await startServer(env);
    expect(existsSync(linkFile(env))).toBe(false);
    await third.stop();
  });

  test('expires the link after a week', async () => {
    const begun = Date.now();
    let passed = 0;
    const server = await startServer(await freshEnvironment(engine), { now: () => begun + passed });
    const browser = new BrowserLike(server.url);
    passed = 6.9 * 24 * 3_600_000;
    expect((await browser.get(linkOf(server))).status).toBe(200);
    passed = 7.1 * 24 * 3_600_000;
    expect((await browser.get(linkOf(server))).status).toBe(404);
    expect((await browser.post(linkOf(server), filled('ada'))).status).toBe(404);
    await server.stop();
  });
});

test('an administrator whom the operator adds ends the link', async () => {
  const server = await startServer(await freshEnvironment('sqlite'));
  const link = linkOf(server);
  await person(server, { name: 'root', admin: true });
  const browser = new BrowserLike(server.url);
  expect((await browser.get(link)).status).toBe(404);
  expect((await browser.post(link, filled('mallory'))).status).toBe(404);
  await server.stop();
});

describe('the form of the set-up', () => {
  const server = serverFor('sqlite');

  test('shows errors beside the fields, and keeps the values except the password', async () => {
    const browser = new BrowserLike(server().url);
    const link = linkOf(server());
    const typed = { name: 'no good', display_name: 'Ada "A" <Lovelace>', password: 'short pw', again: 'short pw' };
    const { status, html, words } = await browser.post(link, typed);
    expect(status).toBe(422);
    expect(words).toContain('This must be 1 to 40 of a–z');
    expect(words).toContain('This must be at least 10 characters.');
    expect(html).toContain('value="no good"');
    expect(html).toContain('value="Ada &quot;A&quot; &lt;Lovelace&gt;"');
    expect(html).not.toContain('short pw');
    expect(html).toMatch(
      /<input id="name"[^>]*autofocus[^>]*aria-invalid="true" aria-describedby="name-hint name-fault"/,
    );
    expect(html).toContain('<p class="fault" id="name-fault">');
  });

  test('needs the same password twice, and rejects common ones', async () => {
    const browser = new BrowserLike(server().url);
    const link = linkOf(server());
    const twice = await browser.post(link, { name: 'ada', password: goodPassword, again: `${goodPassword}!` });
    expect({ status: twice.status, told: twice.words.includes('This is not the same password.') }).toEqual({
      status: 422,
      told: true,
    });
    const common = await browser.post(link, { name: 'ada', password: 'qwertyuiop', again: 'qwertyuiop' });
    expect(common.status).toBe(422);
    expect(common.words).toContain('one of the passwords that are tried first');
    expect(await countAdmins(server().engine)).toBe(0);
  });

  test('says that a name is taken', async () => {
    await person(server(), { name: 'taken' });
    const { status, words } = await new BrowserLike(server().url).post(linkOf(server()), filled('Taken'));
    expect(status).toBe(422);
    expect(words).toContain('This is taken: choose another.');
    expect(existsSync(linkFile(server().env))).toBe(true);
  });

  test('is not read if the link does not work', async () => {
    const { status } = await new BrowserLike(server().url).post('/setup/nothing', { name: 'no good' });
    expect(status).toBe(404);
  });
});

describe('the front page', () => {
  const server = serverFor('sqlite');

  test('shows programs the URL of the API, and redirects people to sign in', async () => {
    const response = await fetch(server().url);
    expect(await response.text()).toMatch(
      /^Parley \d+\.\d+\.\d+\nThe API is at \/api, its description at \/api\/openapi\.json\.\n$/,
    );
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    await person(server(), { name: 'root', admin: true });
    const browser = new BrowserLike(server().url);
    const { status, location } = await browser.get('/');
    expect({ status, location }).toEqual({ status: 303, location: '/sign-in' });
  });

  test('shows administration only to administrators', async () => {
    const root = await person(server(), { admin: true });
    const someone = await person(server());
    const browser = new BrowserLike(server().url);
    await browser.signIn(root.name, goodPassword);
    const all = (await browser.get('/settings')).html;
    expect(all).toContain('href="/admin/users"');
    expect(all).toContain('href="/settings/service"');
    await browser.signIn(someone.name, goodPassword);
    const { html } = await browser.get('/settings');
    expect(html).toContain('href="/console/webhooks"');
    expect(html).toContain('href="/settings/profile"');
    expect(html).not.toContain('/admin/');
    expect(html).not.toContain('/settings/service');
  });
});
