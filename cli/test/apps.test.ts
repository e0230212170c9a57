import { expect, test } from 'bun:test';
import { onAnyEngine } from '@parley/server/test/support/engines.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { failed, parley, said } from './parley.ts';

const redirect = 'https://app.example/callback';

onAnyEngine('apps', (engine) => {
  const server = serverFor(engine);

  async function someone(name: string) {
    const { token } = await server().user(name);
    return { PARLEY_URL: server().url, PARLEY_TOKEN: token };
  }

  test('are registered, listed and deleted', async () => {
    const env = await someone('ada');
    expect(await parley(['apps', 'list'], env)).toEqual({ code: 0, stdout: '', stderr: 'No apps.\n' });
    const client = await said(['apps', 'register', 'My app', redirect, 'http://127.0.0.1/'], env);
    expect(client).toMatch(/^client_id=app_[\w-]{20}$/);
    const { apps } = JSON.parse(await said(['apps', 'list', '--json'], env));
    expect(apps).toMatchObject([{ name: 'My app', redirects: [redirect, 'http://127.0.0.1/'], confidential: false }]);
    const listed = await said(['apps', 'list'], env);
    expect(listed).toMatch(/^id +client id +secret +registered +name\n/);
    expect(listed).toContain(client.slice('client_id='.length));
    expect(await said(['apps', 'delete', String(apps[0].app_id)], env)).toBe(`Deleted app ${apps[0].app_id}.`);
    expect(await said(['apps', 'list', '--json'], env)).toBe('{"apps":[]}');
  });

  test('show a secret once', async () => {
    const env = await someone('bob');
    const made = await parley(['apps', 'register', 'Backend', redirect, '--confidential'], env);
    expect(made.stdout).toMatch(/^client_id=app_[\w-]{20}\nclient_secret=acs_[\w-]{43}\n$/);
    expect(made.stderr).toBe('The secret is shown only once.\n');
    expect(await said(['apps', 'list'], env)).not.toContain('acs_');
  });

  test('fail with one line', async () => {
    const env = await someone('cleo');
    const reader = { ...env, PARLEY_TOKEN: await server().token('cleo', ['messages:read']) };
    expect(await parley(['apps', 'register', 'App'], env)).toEqual(failed(2, '<redirect URL> is missing.'));
    expect(await parley(['apps', 'register', 'App', 'nonsense'], env)).toEqual(failed(1, 'must be a URL such as'));
    expect(await parley(['apps', 'delete', '999'], env)).toEqual(failed(1, 'You have no such app.'));
    expect(await parley(['apps', 'list'], reader)).toEqual(failed(1, 'lacks the scope apps'));
  });
});
