import { beforeAll, expect, test } from 'bun:test';
import { BrowserLike, goodPassword, person } from '../support/browser-like.ts';
import { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { askForTokens, expectFault, newApp, postForm, type TestApp, tokensIn, withToken } from '../support/oauth.ts';
import { serverFor } from '../support/server.ts';

const grantType = 'urn:ietf:params:oauth:grant-type:device_code';

onAnyEngine('the page for devices', (engine) => {
  let now = Date.now();
  const server = serverFor(engine, { PARLEY_SIGN_IN_LIMIT: 'off' }, { now: () => now });
  let app: TestApp;
  beforeAll(async () => {
    const bob = await person(server(), { name: 'bob' });
    app = await newApp(server(), new Client(server().url, '', bob.user_id), { name: 'Doorbell' });
  });

  async function signedIn(options: { admin?: boolean } = {}) {
    const user = await person(server(), options);
    const browser = new BrowserLike(server().url);
    await browser.signIn(user.name, goodPassword);
    return { user, browser };
  }
  async function newDevice(scope = 'messages:read') {
    const form = { client_id: app.clientId, scope };
    const { body } = await postForm(`${server().url}/oauth/device_authorization`, form);
    const code = String(body.device_code);
    const poll = () => askForTokens(server(), app, { grant_type: grantType, device_code: code });
    return { userCode: String(body.user_code), link: new URL(String(body.verification_uri_complete)), poll };
  }

  test('lets the user sign in first, and returns with the code', async () => {
    const { name } = await person(server());
    const browser = new BrowserLike(server().url);
    const { link, userCode } = await newDevice();
    const { status, location } = await browser.get(`${link.pathname}${link.search}`);
    expect(status).toBe(303);
    const next = new URL(location ?? '', server().url).searchParams.get('next') ?? '';
    expect((await browser.signIn(name, goodPassword, { next })).location).toBe(`/device?user_code=${userCode}`);
    const page = await browser.get(next);
    expect(page.html).toContain(`value="${userCode}"`);
    expect(page.words).toContain('Did somebody send you the code, or a link to this page? Stop here.');
  });

  test('leads from the code to the consent page, and from there to the tokens', async () => {
    const { user, browser } = await signedIn();
    const { userCode, poll } = await newDevice('messages:read files');
    expect((await browser.get('/device')).words).toContain('Connect a device');
    const consent = await browser.post('/device', { user_code: userCode.toLowerCase() });
    expect(consent.status).toBe(200);
    for (const text of [
      'Allow Doorbell to use your account?',
      'bob has registered this app. No one has reviewed it.',
      'Upload and download files',
      `You are signed in as ${user.name}`,
      `the device with the code ${userCode}`,
      'If somebody sent you the code, deny it.',
    ]) {
      expect(consent.words).toContain(text);
    }
    expectFault(await poll(), 'authorization_pending');
    const decided = await browser.post('/device', { user_code: userCode, user: user.user_id, decision: 'allow' });
    expect(decided.words).toContain('Doorbell can use your account now');
    const { access, scope } = tokensIn(await poll());
    expect(scope).toBe('messages:read files');
    expect((await withToken(server(), access).ok('users.me', {})).user.name).toBe(user.name);
    const again = await browser.post('/device', { user_code: userCode });
    expect(again.status).toBe(422);
    expect(again.words).toContain('This code is unknown or has expired.');
  });

  test('tells the device if the user denies it', async () => {
    const { user, browser } = await signedIn();
    const { userCode, poll } = await newDevice();
    const { words } = await browser.post('/device', { user_code: userCode, user: user.user_id, decision: 'deny' });
    expect(words).toContain('Doorbell got no access');
    expectFault(await poll(), 'access_denied');
  });

  test('asks again if another user has signed in meanwhile', async () => {
    const [{ user: first }, { browser }] = [await signedIn(), await signedIn()];
    const { userCode, poll } = await newDevice();
    const { words } = await browser.post('/device', { user_code: userCode, user: first.user_id, decision: 'allow' });
    expect(words).toContain('Allow Doorbell to use your account?');
    expectFault(await poll(), 'authorization_pending');
  });

  test('rejects a code and a decision from another site', async () => {
    const { user, browser } = await signedIn();
    const { userCode, poll } = await newDevice();
    const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    for (const decision of ['', 'allow']) {
      const fields = { user_code: userCode, user: user.user_id, decision };
      expect((await browser.post('/device', fields, foreign)).status).toBe(403);
    }
    // No link leads past the page with the warning.
    const linked = await browser.get(`/device?user_code=${userCode}&user=${user.user_id}&decision=allow`);
    expect(linked.words).toContain('Connect a device');
    expectFault(await poll(), 'authorization_pending');
  });

  test('stops a person who guesses codes, and nobody else', async () => {
    const [guesser, other] = [await signedIn(), await signedIn()];
    const { userCode } = await newDevice();
    const guess = (code: string) => guesser.browser.post('/device', { user_code: code });
    // Something that cannot be a code is a slip, and no guess.
    for (let slips = 0; slips < 12; slips++) expect((await guess('hello')).status).toBe(422);
    // Nor is the right one.
    for (let hits = 0; hits < 12; hits++) expect((await guess(userCode)).status).toBe(200);
    for (let guesses = 0; guesses < 10; guesses++) expect((await guess('BBBB-BBBB')).status).toBe(422);
    for (const fields of [
      { user_code: userCode },
      { user_code: userCode, user: guesser.user.user_id, decision: 'allow' },
    ]) {
      const refused = await guesser.browser.post('/device', fields);
      expect(refused.status).toBe(429);
      expect(refused.headers.get('retry-after')).toBe('60');
      expect(refused.words).toContain('There were too many wrong codes. Try again in 60 seconds.');
    }
    expect((await other.browser.post('/device', { user_code: userCode })).status).toBe(200);
    now += 60_000;
    expect((await guess(userCode)).status).toBe(200);
  });

  test('asks an administrator for the password again before a device may administer', async () => {
    const { user, browser } = await signedIn({ admin: true });
    const { userCode, poll } = await newDevice('admin');
    const { words } = await browser.post('/device', { user_code: userCode });
    expect(words).toContain('You are an administrator.');
    now += 11 * 60_000;
    const fresh = await newDevice('admin');
    for (const fields of [{}, { user: user.user_id, decision: 'allow' }]) {
      const { status, location } = await browser.post('/device', { user_code: fresh.userCode, ...fields });
      const next = encodeURIComponent(`/device?user_code=${fresh.userCode}`);
      expect({ status, location }).toEqual({ status: 303, location: `/confirm-password?next=${next}` });
    }
    expectFault(await fresh.poll(), 'authorization_pending');
    expectFault(await poll(), 'expired_token');
  });
});
