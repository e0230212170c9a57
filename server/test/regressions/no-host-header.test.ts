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
    ['/metrics', 'process_resident_memory_bytes'],
  ])('gets %s', async (path, body) => {
    const answer = await get(path);
    expect(answer).toMatch(/^HTTP\/1\.[01] 200 /);
    expect(answer).toContain(body);
  });

  test('is served by the API', async () => {
    const { token } = await server().user('ada');
    const answer = await get('/api/users.php?action=me', `Authorization: Bearer ${token}`);
    expect(answer).toMatch(/^HTTP\/1\.[01] 200 /);
    expect(answer).toContain('"name":"ada"');
  });
});
