import { afterAll, beforeAll, expect } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BrowserLike, goodPassword, person } from '../support/browser-like.ts';
import { temporaryFolder } from '../support/cleanup.ts';
import type { SessionClient } from '../support/client.ts';
import { freshEnvironment } from '../support/engines.ts';
import { requirePrograms, testUnless } from '../support/requirements.ts';
import { attach, type ServerProcess, spawnServer, type TestServer } from '../support/server.ts';
import { runBlocks, shellBlocks } from '../support/shell.ts';
import { inSession } from '../support/visitor.ts';

const page = readFileSync(join(import.meta.dir, '../../../docs/authorization.md'), 'utf8');
const blocks = shellBlocks(page);

let process_: ServerProcess;
let server: TestServer;
let browser: BrowserLike;
/** Its calls, as those of the console. */
let console_: SessionClient;
beforeAll(async () => {
  const env = await freshEnvironment('sqlite');
  process_ = await spawnServer(env);
  server = await attach(process_.url, env);
  const { name, user_id } = await person(server);
  browser = new BrowserLike(server.url);
  await browser.signIn(name, goodPassword);
  console_ = await inSession(server, { userId: user_id });
});
afterAll(async () => {
  await server?.stop();
  await process_?.kill('SIGTERM');
});

/** Registers the app that the page asks its reader to register, and answers its client id. */
async function registerApp(): Promise<string> {
  const redirect = /redirect URI `([^`]+)`/.exec(page)?.[1] ?? '';
  return (await console_.ok('apps.register', { name: 'A walk', redirects: [redirect] })).app.client_id;
}

/** The same for one with a secret, which is shown this once. */
async function registerBackend(): Promise<{ id: string; secret: string }> {
  const asked = { name: 'A back end', redirects: ['https://app.example/callback'], confidential: true };
  const { app, client_secret } = await console_.ok('apps.register', asked);
  return { id: app.client_id, secret: client_secret ?? '' };
}

/** Opens the URL in the browser, allows the app, and returns the code from the redirect. */
async function allow(address: string): Promise<string> {
  const { pathname, search } = new URL(address);
  const { html } = await browser.get(pathname + search);
  const user = /name="user" value="(\d+)"/.exec(html)?.[1] ?? '';
  const { location } = await browser.post(pathname + search, { decision: 'allow', user });
  const answer = new URL(location ?? '');
  expect(answer.searchParams.get('iss')).toBe(server.url);
  return answer.searchParams.get('code') ?? '';
}

/** Enters the code of the device in the browser, and allows it. */
async function allowDevice(device: { user_code: string }): Promise<string> {
  const { html } = await browser.post('/device', { user_code: device.user_code });
  const user = /name="user" value="(\d+)"/.exec(html)?.[1] ?? '';
  await browser.post('/device', { user_code: device.user_code, decision: 'allow', user });
  return '';
}

testUnless(
  requirePrograms('curl', 'openssl', 'bash'),
  'every command of the page works, from the request to the end of the permission',
  async () => {
    const reader = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async (request) => {
        const text = await request.text();
        return new Response(await (text.startsWith('{') ? allowDevice(JSON.parse(text)) : allow(text)));
      },
    });
    const { port } = new URL(server.url);
    const backend = await registerBackend();
    const app = await registerApp();
    const adapt = (script: string) =>
      script
        .replaceAll(':8080', `:${port}`)
        .replace('app_…', app)
        .replace('app_…', backend.id)
        .replace('acs_…', backend.secret)
        .replace(/^echo "(.*)"$/m, 'ADDRESS="$1"; echo "$ADDRESS"')
        .replace('oac_…', `$(curl -s http://127.0.0.1:${reader.port}/ --data-raw "$ADDRESS")`)
        .replace(/^(?=curl .*device_code=)/m, `curl -s http://127.0.0.1:${reader.port}/ --data @device.json\n`)
        .replaceAll('curl "', 'curl -sS "');
    try {
      const { outputs, complaints } = await runBlocks(blocks, { cwd: temporaryFolder(), env: process.env }, adapt);
      expect(complaints).toBe('');
      expect(outputs).toHaveLength(blocks.length);
      const printed = outputs.join('');
      expect(printed).not.toContain('"error"');
      const all = (pattern: RegExp) => [...printed.matchAll(pattern)].map(([, token = '']) => token);
      expect(all(/("success":true)/g)).toHaveLength(3);
      expect(printed).toContain('"content":"Hello from the app"');
      const accessTokens = all(/"access_token":"(oat_[^"]+)"/g);
      expect(new Set(accessTokens).size).toBe(4);
      const statuses: number[] = [];
      for (const token of accessTokens) {
        const headers = { authorization: `Bearer ${token}` };
        statuses.push((await fetch(`${server.url}/api/users.php?action=me`, { headers })).status);
      }
      // Both tokens of the person were revoked. Those of the device and of the back end itself were not.
      expect(statuses).toEqual([401, 401, 200, 200]);
    } finally {
      await reader.stop(true);
    }
  },
);
