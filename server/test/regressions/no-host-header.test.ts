import { describe, expect, test } from 'bun:test';
import { serverFor } from '../support/server.ts';
import { overSocket } from '../support/wire.ts';

describe('a request without a Host header, as HTTP/1.0 has it', () => {
  const server = serverFor('sqlite');
  const get = (path: string, ...headers: string[]) =>
    overSocket(server().url, [[`GET ${path} HTTP/1.0`, ...headers, '\r\n'].join('\r\n')]);

  test.each([
    ['/healthz', 'ok\n'],
    ['/readyz', 'ready\n'],
  ])('gets %s', async (path, body) => {
    const answer = await get(path);
    expect(answer).toMatch(/^HTTP\/1\.[01] 200 /);
    expect(answer).toContain(body);
  });

  test('gets no metrics, because a proxy may have passed it on', async () => {
    expect(await get('/metrics')).toMatch(/^HTTP\/1\.[01] 403 /);
  });

  test('is served by the API', async () => {
    const { token } = await server().user('ada');
    const answer = await get('/api/users.php?action=me', `Authorization: Bearer ${token}`);
    expect(answer).toMatch(/^HTTP\/1\.[01] 200 /);
    expect(answer).toContain('"name":"ada"');
  });

  test('cannot register a webhook to a loopback address', async () => {
    const { token } = await server().user('grace');
    const body = JSON.stringify({ url: 'http://127.0.0.1:9/', events: ['new_message'], secret: 'x'.repeat(32) });
    const head = [
      'POST /api/webhooks.php?action=register HTTP/1.0',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    const answer = await overSocket(server().url, [`${head.join('\r\n')}\r\n\r\n${body}`]);
    expect(answer).toMatch(/^HTTP\/1\.[01] 422 /);
    expect(answer).toContain('loopback');
  });
});
