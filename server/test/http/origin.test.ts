import { beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { users } from '../support/people.ts';
import { serverFor, type TestServer } from '../support/server.ts';
import { signedIn } from '../support/visitor.ts';

type Headed = Readonly<Record<string, string>>;

/** Returns functions that call the API with the cookie of a session and some headers. */
async function browserOf(server: TestServer, user: Client, publicHost?: string) {
  const { session } = await signedIn(server, user);
  const name = publicHost === undefined ? 'parley_session' : '__Host-parley_session';
  const cookie = { cookie: `${name}=${session}`, ...(publicHost !== undefined && { host: publicHost }) };
  const call = async (path: string, init: RequestInit & { headers: Headed }) =>
    (await fetch(`${server.url}${path}`, { ...init, headers: { ...cookie, ...init.headers } })).status;
  return {
    get: (headers: Headed) => call('/api/users.php?action=me', { headers }),
    post: (headers: Headed) =>
      call('/api/messages.php?action=create_group', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ name: 'Made in a browser' }),
      }),
  };
}

/** Headers that other sites can make a browser send. */
const foreign = (own: string): Readonly<Record<string, Headed>> => ({
  'nothing said': {},
  'another origin': { origin: 'https://evil.example' },
  'another origin, and a referrer of ours': { origin: 'https://evil.example', referer: `${own}/` },
  'an opaque origin, and a referrer of ours': { origin: 'null', referer: `${own}/` },
  'a referrer of another site': { referer: 'https://evil.example/' },
  'a referrer of another port': { referer: `${own.replace(/:\d+$/, '')}:1/` },
  'a referrer that begins like ours': { referer: `${own}.evil.example/` },
  'a referrer with our origin as its user name': { referer: `${own}@evil.example/` },
  'a referrer with our origin in its path': { referer: `https://evil.example/${own}/` },
  'an empty referrer': { referer: '' },
  'a referrer that is no URL': { referer: '/sign-in' },
  'https instead of http': { referer: `${own.replace('http:', 'https:')}/` },
  'cross-site, and a referrer of ours': { 'sec-fetch-site': 'cross-site', referer: `${own}/` },
  'same-site, and a referrer of ours': { 'sec-fetch-site': 'same-site', referer: `${own}/` },
  'none, and a referrer of ours': { 'sec-fetch-site': 'none', referer: `${own}/` },
  'an empty Sec-Fetch-Site, and a referrer of ours': { 'sec-fetch-site': '', referer: `${own}/` },
});

onAnyEngine('the cookie of a session on the API', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  beforeAll(async () => {
    ({ ada } = await users(server(), 'ada'));
  });

  test('is no credential in a request that another site caused', async () => {
    const { get, post } = await browserOf(server(), ada);
    for (const [what, headers] of Object.entries(foreign(server().url))) {
      expect({ what, statuses: [await get(headers), await post(headers)] }).toEqual({
        what,
        statuses: [401, 401],
      });
    }
    expect((await ada.ok('chats.list', {})).chats).toEqual([]);
  });

  test('authenticates a page of ours over plain HTTP, where a GET has only a referrer', async () => {
    const { get, post } = await browserOf(server(), ada);
    const { url } = server();
    expect(await get({ referer: `${url}/chats/1?x=1` })).toBe(200);
    expect(await get({ origin: url })).toBe(200);
    expect(await get({ 'sec-fetch-site': 'same-origin' })).toBe(200);
    // A browser sends Origin with every POST, so a referrer alone is no page of ours.
    expect(await post({ referer: `${url}/` })).toBe(401);
    expect(await post({ origin: url, referer: `${url}/` })).toBe(200);
  });

  test('does nothing for a page that was opened by somebody else', async () => {
    const { bob } = await users(server(), 'bob');
    const visitor = await signedIn(server(), bob);
    const ours = { 'sec-fetch-site': 'same-origin' };
    const json = { 'content-type': 'application/json' };
    const requests: readonly (readonly [string, RequestInit & { headers?: Headed }])[] = [
      ['users.php?action=me', {}],
      ['events.php?action=stream', {}],
      ['messages/create_group', { method: 'POST', headers: json, body: '{"name":"Mine"}' }],
      ['uploads', { method: 'POST', headers: { 'tus-resumable': '1.0.0', 'upload-length': '1' } }],
    ];
    const calls = (headers: Headed) =>
      Promise.all(
        requests.map(async ([path, init]) => {
          const response = await fetch(`${server().url}/api/${path}`, {
            ...init,
            headers: { ...init.headers, ...headers },
          });
          await response.body?.cancel();
          return response.status;
        }),
      );
    const cookie = { ...ours, cookie: `parley_session=${visitor.session}` };
    const bearer = { authorization: `Bearer ${bob.token}` };
    for (const named of [`${ada.userId}`, '', '0', `0${bob.userId}`, `${bob.userId}, ${bob.userId}`, 'bob', '-1']) {
      for (const credential of [cookie, bearer]) {
        const statuses = await calls({ ...credential, 'parley-user': named });
        expect({ named, statuses }).toEqual({ named, statuses: [401, 401, 401, 401] });
      }
    }
    expect((await bob.ok('chats.list', {})).chats).toEqual([]);
    for (const credential of [cookie, bearer]) {
      expect(await calls({ ...credential, 'parley-user': `${bob.userId}` })).toEqual([200, 200, 200, 201]);
    }
    // Nor does it sign out the person who is there now.
    const signOut = (named: number) => visitor.post('/sign-out', {}, { ...ours, 'parley-user': `${named}` });
    expect((await signOut(ada.userId)).status).toBe(403);
    expect((await calls(cookie))[0]).toBe(200);
    expect((await signOut(bob.userId)).status).toBe(303);
    expect((await calls(cookie))[0]).toBe(401);
  });
});

describe('with a public URL', () => {
  const server = serverFor('sqlite', { PUBLIC_URL: 'https://chat.example.com' });

  test('only its origin counts, and not the Host header', async () => {
    const { ada } = await users(server(), 'ada');
    const { get } = await browserOf(server(), ada, 'chat.example.com');
    expect(await get({ referer: 'https://chat.example.com/chats/1' })).toBe(200);
    expect(await get({ referer: `${server().url}/` })).toBe(401);
    expect(await get({ referer: 'http://chat.example.com/' })).toBe(401);
  });
});
