import { beforeAll, describe, expect, test } from 'bun:test';
import { onAnyEngine } from '../support/engines.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { believingProxies, countActs, expectSound, signedIn, typedIn, Visitor } from '../support/visitor.ts';

/** Would be seen as more than words, were it not escaped. */
const markup = `<script>alert(1)</script><b a='"'>&amp;`;

onAnyEngine('the pages of an account', (engine) => {
  const server = serverFor(engine, believingProxies);
  let visitor: Visitor;
  beforeAll(async () => {
    const { ada } = await users(server(), 'ada');
    visitor = await signedIn(server(), ada);
  });

  describe('as a whole', () => {
    const pages = ['/settings', '/sessions', '/password'];
    const acts = ['/sessions/1/sign-out', '/sessions/sign-out-others', '/password'];

    test('need a session, and redirect others to sign in and back', async () => {
      const stranger = new Visitor(server().url);
      for (const path of [...pages, '/settings?done=password-reset']) {
        const { status, location } = await stranger.get(path);
        expect({ status, location }).toEqual({ status: 303, location: `/sign-in?next=${encodeURIComponent(path)}` });
      }
      const before = await countActs(server());
      for (const path of acts) {
        const { status, location } = await stranger.post(path, { name: 'x' });
        expect({ path, status, location }).toEqual({ path, status: 303, location: '/sign-in?done=signed-out' });
      }
      expect(await countActs(server())).toBe(before);
    });

    test('reject forms from other sites', async () => {
      const before = await countActs(server());
      for (const path of acts)
        expect((await visitor.post(path, { name: 'x' }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
      expect(await countActs(server())).toBe(before);
    });

    test('are accessible, and never cached', async () => {
      for (const path of pages) {
        const page = await visitor.get(path);
        expect(page.status).toBe(200);
        expectSound(page);
        expect(page.headers.get('cache-control')).toBe('no-store');
        expect(page.html).toContain(`<a href="${path}" aria-current="page">`);
      }
    });

    test('show only their own notices, and no text from the URL', async () => {
      expect((await visitor.get('/settings?done=password-reset')).main).toContain('Your password is set.');
      for (const done of ['constructor', '__proto__', markup, '']) {
        const { status, html } = await visitor.get(`/settings?done=${encodeURIComponent(done)}`);
        expect(status).toBe(200);
        expect(html).not.toContain('role="status"');
        expect(html).not.toContain('alert(1)');
      }
    });

    test.each(['0', '-1', '1.5', '1e3', 'x', '00', '999999999', '9007199254740993', '%00', '1%2f2'])(
      'have nothing under the id %s',
      async (id) => {
        expect((await visitor.post(`/sessions/${id}/sign-out`)).status).toBe(404);
      },
    );
  });

  test('bring back somebody whose session ended meanwhile, and say that the form was not sent', async () => {
    const stranger = new Visitor(server().url);
    const { url } = server();
    const from = (referer: string) =>
      stranger.post('/password', {}, { 'sec-fetch-site': 'same-origin', referer }).then(({ location }) => location);
    const led = await from(`${url}/password?done=session-ended&x=1`);
    expect(led).toBe(`/sign-in?next=${encodeURIComponent('/password?x=1')}&done=signed-out`);
    const page = await stranger.get(led ?? '');
    expect(page.main).toContain('You were signed out, and the form was not sent. Sign in to continue.');
    expect(typedIn(page.html, 'next')).toBe('/password?x=1');
    expectSound(page);
    expect((await stranger.get('/sign-in?next=/password')).main).not.toContain('You were signed out');
    for (const referer of ['https://evil.example/password', `${url}.evil.example/`, `${url}//evil.example/`, 'x', '']) {
      expect({ referer, led: await from(referer) }).toEqual({ referer, led: '/sign-in?done=signed-out' });
    }
  });
});
