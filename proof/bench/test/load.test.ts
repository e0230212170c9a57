import { afterAll, beforeAll, expect, test } from 'bun:test';
import { load } from '../race.ts';

/** A server that is away for a while at its first request. */
const pauseMs = 300;
let calls = 0;
let server: ReturnType<typeof Bun.serve>;

beforeAll(() => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch() {
      if (++calls === 1) Bun.sleepSync(pauseMs);
      return new Response('ok', { headers: { 'content-length': '2' } });
    },
  });
});
afterAll(() => server.stop(true));

test('a pause of the server counts for all requests that were due meanwhile', async () => {
  const requests = ['GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'];
  const racer = { pid: process.pid, port: server.port ?? 0, requests, connections: 1, perSecond: 200 };
  const { p99Ms } = await load(racer, 1);
  // A generator that waited for each answer would have seen one slow request in two hundred, and none at the 99th percentile.
  expect(p99Ms).toBeGreaterThan(pauseMs / 2);
});
