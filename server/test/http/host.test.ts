import { describe, expect, test } from 'bun:test';
import { parseTrustedProxies } from '../../http/client-ip.ts';
import { hostError } from '../../http/host.ts';
import { serverFor, type TestServer } from '../support/server.ts';
import { overSocket } from '../support/wire.ts';

/** Sends header lines as they are, and returns the status and the whole response. */
async function send(server: TestServer, path: string, ...lines: string[]) {
  const head = [`GET ${path} HTTP/1.1`, ...lines, 'Connection: close', '', ''];
  const answer = await overSocket(server.url, [head.join('\r\n')]);
  return { status: Number(answer.slice(9, 12)), answer };
}

const checkedPaths = [
  '/api/users.php?action=me',
  '/api/uploads/none',
  '/api/openapi.json',
  '/.well-known/oauth-authorization-server',
  '/oauth/token',
  '/sign-in',
  '/nothing',
];

describe.each([
  ['with PUBLIC_URL', { PUBLIC_URL: 'https://chat.example.com' }],
  ['without PUBLIC_URL', {}],
])('a server %s', (_, env) => {
  const server = serverFor('sqlite', { ...env });

  test('takes one Host header, and no list or URL in it', async () => {
    const { host } = new URL(server().url);
    const doubles = [
      [`Host: ${host}`, `Host: ${host}`],
      [`Host: ${host}`, 'Host: evil.example'],
      ['Host: evil.example', `Host: ${host}`],
      [`Host: ${host}, evil.example`],
      [`Host: ${host}`, 'X-Other: 1', 'host:'],
      [`Host: evil.example@${host}`],
      [`Host: ${host}/path`],
      ['Host:'],
    ];
    for (const lines of doubles) {
      for (const path of checkedPaths) {
        const { status, answer } = await send(server(), path, ...lines);
        expect({ lines, path, status }).toEqual({ lines, path, status: 400 });
        expect(answer).toContain('Send one Host header');
      }
    }
  });
});

describe('a server with PUBLIC_URL', () => {
  const server = serverFor('sqlite', { PUBLIC_URL: 'https://chat.example.com' });
  const statusFor = async (path: string, ...lines: string[]) => (await send(server(), path, ...lines)).status;

  test('serves its host, with and without the default port, in any case', async () => {
    for (const host of ['chat.example.com', 'chat.example.com:443', 'CHAT.example.com']) {
      expect({ host, status: await statusFor('/sign-in', `Host: ${host}`) }).toEqual({ host, status: 200 });
    }
  });

  test('responds to other hosts with 421, and names the URL', async () => {
    const others = [
      'evil.example',
      'chat.example.com.evil.example',
      'chat.example.com:80',
      'chat.example.com:8443',
      'chat.example.com.',
      'example.com',
      '192.168.1.5:8080',
    ];
    for (const path of checkedPaths) {
      for (const host of others) {
        const { status, answer } = await send(server(), path, `Host: ${host}`);
        expect({ path, host, status }).toEqual({ path, host, status: 421 });
        expect(answer).toContain('https://chat.example.com');
      }
    }
  });

  test('tells a browser the URL in plain text', async () => {
    const { status, answer } = await send(server(), '/sign-in', 'Host: 192.168.1.5:8080', 'Accept: text/html');
    expect(status).toBe(421);
    expect(answer).toMatch(/^content-type: text\/plain/im);
    expect(answer).toContain('\r\n\r\nParley runs at https://chat.example.com.');
  });

  test('responds with 421 to a request without a Host header', async () => {
    const answer = await overSocket(server().url, ['GET /sign-in HTTP/1.0\r\n\r\n']);
    expect(answer).toStartWith('HTTP/1.1 421 ');
  });

  test('lets any host ask for health, readiness and metrics', async () => {
    for (const host of ['evil.example', 'node1:8080']) {
      expect(await statusFor('/healthz', `Host: ${host}`)).toBe(200);
      expect(await statusFor('/readyz', `Host: ${host}`)).toBe(200);
      expect(await statusFor('/metrics', `Host: ${host}`)).toBe(403);
    }
  });

  test('serves programs on this machine under its loopback names, unless a proxy passed the request on', async () => {
    for (const host of [new URL(server().url).host, 'localhost', '[::1]:8080']) {
      expect(await statusFor('/sign-in', `Host: ${host}`)).toBe(200);
      expect(await statusFor('/sign-in', `Host: ${host}`, 'X-Forwarded-For: 203.0.113.7')).toBe(421);
    }
  });

  test('believes no X-Forwarded-Host without TRUST_PROXY', async () => {
    expect(await statusFor('/sign-in', 'Host: node1:8080', 'X-Forwarded-Host: chat.example.com')).toBe(421);
  });
});

describe('a server with PUBLIC_URL behind a trusted proxy', () => {
  const server = serverFor('sqlite', { PUBLIC_URL: 'https://chat.example.com', TRUST_PROXY: '127.0.0.0/8' });
  const statusFor = async (...lines: string[]) => (await send(server(), '/sign-in', ...lines)).status;

  test('takes the host from the last X-Forwarded-Host if the proxy has changed Host', async () => {
    expect(await statusFor('Host: node1:8080', 'X-Forwarded-Host: chat.example.com')).toBe(200);
    expect(await statusFor('Host: node1:8080', 'X-Forwarded-Host: evil.example, chat.example.com')).toBe(200);
    expect(await statusFor('Host: node1:8080', 'X-Forwarded-Host: chat.example.com, evil.example')).toBe(421);
    expect(await statusFor('Host: node1:8080', 'X-Forwarded-Host: evil.example')).toBe(421);
    expect(await statusFor('Host: node1:8080')).toBe(421);
    expect(await statusFor('Host: chat.example.com', 'X-Forwarded-Host: chat.example.com')).toBe(200);
  });
});

test('only loopback connections may use loopback names, and only trusted proxies X-Forwarded-Host', () => {
  const publicUrl = new URL('http://chat.example.com:8080');
  const statusFor = (address: string, headers: Record<string, string>) =>
    hostError(
      { publicUrl, trustedProxies: parseTrustedProxies('10.0.0.0/8') },
      new Request('http://localhost/', { headers }),
      { requestIP: () => ({ address }), timeout: () => {} },
    )?.status;
  expect(statusFor('127.0.0.1', { host: 'localhost:8080' })).toBeUndefined();
  expect(statusFor('192.168.1.9', { host: 'localhost:8080' })).toBe(421);
  expect(statusFor('192.168.1.9', { host: 'chat.example.com:8080' })).toBeUndefined();
  expect(statusFor('192.168.1.9', { host: 'chat.example.com' })).toBe(421);
  const behind = { host: 'node1:8080', 'x-forwarded-host': 'chat.example.com:8080' };
  expect(statusFor('10.0.0.1', behind)).toBeUndefined();
  expect(statusFor('192.168.1.9', behind)).toBe(421);
});
