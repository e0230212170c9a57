import { afterEach, expect, test } from 'bun:test';
import { type Behaviour, behaviours } from './behaviours.ts';
import { stream } from './random.ts';
import { Receiver } from './receiver.ts';

const receiver = new Receiver(0, stream(1, 'receiver'));
afterEach(() => receiver.close());

/** Sends a delivery to a receiver with a behaviour. Returns the status, or 'broken' if there is no response. */
async function deliver(behaviour: Behaviour, id = '1'): Promise<number | 'broken'> {
  receiver.behaviour = behaviour;
  await receiver.close();
  await receiver.open();
  const init = { method: 'POST', headers: { 'x-webhook-id': id }, body: `{"id":${id}}`, redirect: 'manual' } as const;
  return fetch(receiver.url, init).then(
    ({ status }) => status,
    () => 'broken',
  );
}

test('a receiver records a request, and when it accepted it', async () => {
  expect(await deliver(behaviours.accept, '7')).toBe(200);
  const arrival = receiver.arrivals.at(-1);
  expect(arrival?.body.toString()).toBe('{"id":7}');
  expect(arrival?.header('x-webhook-id')).toBe('7');
  expect(arrival?.acceptedAt).toBeGreaterThan(arrival?.at ?? Number.POSITIVE_INFINITY);
  expect(receiver.acceptedCount).toBe(1);
});

test('a receiver that refuses or redirects responds so, and accepts nothing', async () => {
  expect(await deliver(behaviours.refuse)).toBe(500);
  expect([302, 307] as unknown[]).toContain(await deliver(behaviours.redirect));
  expect(receiver.arrivals.at(-1)?.acceptedAt).toBeUndefined();
  expect(receiver.followedRedirects).toBe(0);
});

test('a receiver that resets, hangs or sends garbage gives no response', async () => {
  receiver.hangMs = 50;
  for (const name of ['reset', 'hang', 'garbage'] as const) expect(await deliver(behaviours[name])).toBe('broken');
});

test('a body that never ends, or is far too long, follows a status of success', async () => {
  expect(await deliver(behaviours.drip)).toBe(200);
  await receiver.close();
  receiver.behaviour = behaviours.flood;
  await receiver.open();
  const response = await fetch(receiver.url, { method: 'POST', body: '{}' });
  expect((await response.arrayBuffer()).byteLength).toBe(4 * 2 ** 20);
});

test('a receiver keeps its URL when it closes and opens again, and refuses connections in between', async () => {
  await receiver.open();
  const { url } = receiver;
  await receiver.close();
  await expect(fetch(url, { method: 'POST', body: '{}' })).rejects.toThrow();
  expect(await deliver(behaviours.accept)).toBe(200);
  expect(receiver.url).toBe(url);
});

test('requests that arrive in pieces, or several over one connection, are all recorded', async () => {
  receiver.behaviour = behaviours.accept;
  await receiver.open();
  const before = receiver.arrivals.length;
  let received = '';
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: Number(new URL(receiver.url).port),
    socket: {
      data: (_, bytes) => {
        received += bytes.toString();
      },
    },
  });
  const request = 'POST /hook HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody';
  for (const piece of [request.slice(0, 30), request.slice(30) + request.slice(0, -2), request.slice(-2)]) {
    socket.write(piece);
    await Bun.sleep(20);
  }
  while ((received.match(/thank you/g) ?? []).length < 2) await Bun.sleep(5);
  expect(receiver.arrivals.slice(before).map(({ body }) => body.toString())).toEqual(['body', 'body']);
  socket.end();
});
