import { describe, expect, test } from 'bun:test';
import { serveMetrics } from '../../http/metrics.ts';
import { serverFor } from '../support/server.ts';
import { overSocket } from '../support/wire.ts';

const token = 'a-token-of-prometheus';
const wrongTokens = ['', token, `Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Basic ${token}`, 'Bearer'];

/** Marks of a request that was made elsewhere. */
const marks: Record<string, string>[] = [
  { 'x-forwarded-for': '203.0.113.7' },
  { 'x-forwarded-for': '127.0.0.1' },
  { forwarded: 'for=203.0.113.7' },
  { via: '1.1 proxy' },
  { 'x-real-ip': '203.0.113.7' },
  { host: 'chat.example.com' },
  { host: '192.168.1.5:8080' },
];

const read = async (url: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${url}/metrics`, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

describe('metrics without a token in the settings', () => {
  const server = serverFor('sqlite');

  test('are open to programs on this machine', async () => {
    for (const headers of [{}, { host: 'localhost' }, { host: '[::1]:8080' }]) {
      const { status, text, headers: given } = await read(server().url, headers);
      expect({ headers, status }).toEqual({ headers, status: 200 });
      expect(given.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
      expect(text).toContain('process_resident_memory_bytes');
    }
    expect((await fetch(`${server().url}/metrics?by=prometheus`)).status).toBe(200);
  });

  test('are closed to requests from elsewhere, which learn the name of the setting', async () => {
    for (const mark of marks) {
      const { status, text } = await read(server().url, { ...mark, authorization: `Bearer ${token}` });
      expect({ mark, status }).toEqual({ mark, status: 403 });
      expect(text).toContain('PARLEY_METRICS_TOKEN');
      expect(text).not.toContain('parley_');
    }
  });

  test('are closed to two Host headers', async () => {
    const { host } = new URL(server().url);
    const answer = await overSocket(server().url, [
      `GET /metrics HTTP/1.1\r\nHost: ${host}\r\nHost: chat.example.com\r\nConnection: close\r\n\r\n`,
    ]);
    expect(answer).not.toContain('parley_');
  });

  test('are served under one spelling of the path', async () => {
    const { host } = new URL(server().url);
    const paths = [
      '/metrics/',
      '//metrics',
      '/%6detrics',
      '/METRICS',
      '/metrics%3f',
      '/metrics;a',
      '/%2fmetrics',
      '/metrics%00',
    ];
    for (const path of paths) {
      const answer = await overSocket(server().url, [
        `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      ]);
      expect({ path, status: answer.slice(0, 12) }).toEqual({ path, status: 'HTTP/1.1 404' });
    }
  });

  test('are read with GET and HEAD alone', async () => {
    const statusOf = async (method: string) => (await fetch(`${server().url}/metrics`, { method })).status;
    expect(await statusOf('HEAD')).toBe(200);
    for (const method of ['POST', 'PUT', 'DELETE']) expect(await statusOf(method)).toBe(405);
  });
});

describe('metrics with a token in the settings', () => {
  const server = serverFor('sqlite', { PARLEY_METRICS_TOKEN: token });

  test('are open to programs on this machine, and elsewhere to the token', async () => {
    expect((await read(server().url)).status).toBe(200);
    for (const mark of marks) {
      const { status, text } = await read(server().url, { ...mark, authorization: `Bearer ${token}` });
      expect({ mark, status }).toEqual({ mark, status: 200 });
      expect(text).toContain('process_resident_memory_bytes');
    }
  });

  test('are closed to other tokens', async () => {
    for (const authorization of wrongTokens) {
      const { status, headers, text } = await read(server().url, { 'x-forwarded-for': '203.0.113.7', authorization });
      expect({ authorization, status }).toEqual({ authorization, status: 401 });
      expect(headers.get('www-authenticate')).toStartWith('Bearer');
      expect(text).toContain('PARLEY_METRICS_TOKEN');
      expect(text).not.toContain(token);
    }
  });
});

test('metrics are open to loopback connections alone, whatever Host a request names', async () => {
  const serve = serveMetrics(async () => 'the metrics', undefined);
  const statusFor = async (address: string | undefined) => {
    const requestIP = () => (address === undefined ? null : { address });
    const request = new Request('http://localhost/metrics', { headers: { host: 'localhost' } });
    return (await serve(request, { requestIP, timeout: () => {} })).status;
  };
  for (const peer of ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1']) expect(await statusFor(peer)).toBe(200);
  for (const peer of ['192.168.1.5', '10.0.0.1', 'fe80::1', '::ffff:10.0.0.1', undefined]) {
    expect(await statusFor(peer)).toBe(403);
  }
});
