import { describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import type { LoggedEvent } from '@parley/contract';
import { check } from './check.ts';
import type { Arrival, Evidence } from './evidence.ts';

const secret = 'a secret';
const timestamp = '2026-01-01T12:00:00.000Z';

const bodyOf = ({ event, data }: LoggedEvent) => Buffer.from(JSON.stringify({ event, timestamp, data }));

/** A request about an event, accepted right away unless it is said otherwise. */
function arrival(
  event: LoggedEvent,
  at: number,
  { acceptedAt = at + 1, body = bodyOf(event), signedWith = secret, ...changed }: Changes = {},
): Arrival {
  const id = String(event.event_id);
  const hmac = (text: string | Buffer) => createHmac('sha256', signedWith).update(text);
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'x-webhook-id': id,
    'x-webhook-event': event.event,
    'x-webhook-attempt': '1',
    'x-webhook-registration': '7',
    'x-webhook-signature': `sha256=${hmac(body).digest('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': '1767268800',
    'webhook-signature': `v1,${hmac(`${id}.1767268800.${body.toString()}`).digest('base64')}`,
    ...changed.headers,
  };
  return {
    header: (name) => headers[name] ?? '',
    body,
    at,
    acceptedAt: acceptedAt === 'never' ? undefined : acceptedAt,
  };
}

interface Changes {
  readonly acceptedAt?: number | 'never';
  readonly body?: Buffer;
  readonly signedWith?: string;
  readonly headers?: Record<string, string>;
}

const message = (message_id: number, chat_id: number) => ({ message_id, chat_id, content: `message ${message_id}` });

const logged = (event_id: number, message_id: number, chat_id: number): LoggedEvent => ({
  event_id: event_id as LoggedEvent['event_id'],
  event: 'new_message',
  timestamp,
  data: message(message_id, chat_id),
});

const messages = [message(1, 1), message(2, 2), message(3, 1)];
const [first, other, second] = [logged(11, 1, 1), logged(12, 2, 2), logged(13, 3, 1)];

/** Two messages in one chat and one in another, and all of them delivered. */
const sound: Evidence = {
  acknowledged: messages,
  changes: [],
  found: messages,
  log: [first, other, second],
  webhooks: [],
};

const deliveredTo = (arrivals: Arrival[]) => ({
  webhooks: [{ name: 'hook', webhookId: 7, secret, arrivals, log: sound.log }],
});
const judge = (changed: Partial<Evidence>) => check({ ...sound, ...changed });
const judgeHook = (...arrivals: Arrival[]): Record<string, number> => {
  const { broken, webhooks } = judge(deliveredTo(arrivals));
  const found = Object.entries(webhooks.hook ?? {}).filter(([, count]) => count > 0);
  return { broken: broken.length, ...Object.fromEntries(found) };
};

describe('the check of a run', () => {
  test('finds nothing wrong where everything was delivered once, whatever the order of the chats', () => {
    expect(judgeHook(arrival(other, 1), arrival(first, 3), arrival(second, 5))).toEqual({ broken: 0, delivered: 3 });
  });

  test('counts repeats, and holds nothing against them', () => {
    const refused = arrival(first, 1, { acceptedAt: 'never' });
    const again = [arrival(first, 3), arrival(second, 5), arrival(first, 7), arrival(second, 9), arrival(other, 11)];
    expect(judgeHook(refused, ...again)).toEqual({ broken: 0, delivered: 3, repeats: 3 });
  });

  test('finds an event that never came, and one that came and was never accepted', () => {
    expect(judgeHook(arrival(first, 1), arrival(second, 3))).toEqual({ broken: 1, delivered: 2, lost: 1 });
    const refused = arrival(other, 5, { acceptedAt: 'never' });
    expect(judgeHook(arrival(first, 1), arrival(second, 3), refused)).toEqual({ broken: 1, delivered: 2, lost: 1 });
  });

  test('finds an event that came before the one ahead of it in its chat was accepted', () => {
    const swapped = [arrival(second, 1), arrival(first, 3), arrival(other, 5)];
    expect(judgeHook(...swapped)).toEqual({ broken: 1, delivered: 3, outOfOrder: 1 });
    const hasty = [arrival(first, 1, { acceptedAt: 4 }), arrival(second, 2, { acceptedAt: 3 }), arrival(other, 5)];
    expect(judgeHook(...hasty)).toEqual({ broken: 1, delivered: 3, outOfOrder: 1 });
  });

  test('finds a request about nothing that is in the log', () => {
    const stranger = arrival(logged(99, 9, 1), 7);
    const all = [arrival(first, 1), arrival(other, 3), arrival(second, 5), stranger];
    expect(judgeHook(...all)).toEqual({ broken: 1, delivered: 3, unknown: 1 });
  });

  test('finds a single repeat with other bytes', () => {
    const body = Buffer.from(bodyOf(first).toString().replace(':', ': '));
    const all = [arrival(first, 1), arrival(other, 3), arrival(second, 5), arrival(first, 7, { body })];
    expect(judgeHook(...all)).toEqual({ broken: 1, delivered: 3, repeats: 1, altered: 1 });
  });

  test('finds a signature that is wrong in either header', () => {
    const rest = [arrival(other, 3), arrival(second, 5)];
    const expected = { broken: 1, delivered: 3, badSignatures: 1 };
    expect(judgeHook(arrival(first, 1, { signedWith: 'another' }), ...rest)).toEqual(expected);
    for (const name of ['x-webhook-signature', 'webhook-signature']) {
      expect(judgeHook(arrival(first, 1, { headers: { [name]: '' } }), ...rest)).toEqual(expected);
    }
  });

  test('finds headers that say something else than the body', () => {
    const rest = [arrival(other, 3), arrival(second, 5)];
    const expected = { broken: 1, delivered: 3, mislabelled: 1 };
    for (const name of ['content-type', 'x-webhook-event', 'x-webhook-attempt', 'x-webhook-registration']) {
      expect(judgeHook(arrival(first, 1, { headers: { [name]: '0' } }), ...rest)).toEqual(expected);
    }
  });

  test('finds what was acknowledged and is gone or changed, and what is there twice or without a word', () => {
    const [one, two, three] = messages;
    if (!one || !two || !three) throw new Error('there are three messages');
    expect(judge({}).broken).toEqual([]);
    expect(judge({ found: [one, two] })).toMatchObject({ missing: 1, extra: 0, unlogged: 0 });
    expect(judge({ found: [{ ...one, content: 'other' }, two, three] })).toMatchObject({ missing: 1, extra: 0 });
    expect(judge({ found: [one, one, two, three] })).toMatchObject({ missing: 0, extra: 1 });
    expect(judge({ acknowledged: [one, two] })).toMatchObject({ missing: 0, extra: 1 });
  });

  test('finds messages and changes that the log does not tell of exactly once', () => {
    expect(judge({ log: [first, other] })).toMatchObject({ unlogged: 1 });
    expect(judge({ log: [first, other, second, logged(14, 3, 1)] })).toMatchObject({ unlogged: 1 });
    expect(judge({ changes: [{ event: 'message_edited', message_id: 1 }] })).toMatchObject({ unlogged: 1 });
  });

  test('finds that somebody came or went more or less often than the log tells', () => {
    const joined = (event_id: number): LoggedEvent => ({
      event_id: event_id as LoggedEvent['event_id'],
      event: 'user_joined',
      timestamp,
      data: { chat_id: 1, user_id: 5, actor_id: 5 },
    });
    const change = { event: 'user_joined', chat_id: 1, user_id: 5 };
    const twice = [...sound.log, joined(14), joined(15)];
    expect(judge({ log: twice, changes: [change, change] })).toMatchObject({ unlogged: 0, broken: [] });
    expect(judge({ log: twice, changes: [change] })).toMatchObject({ unlogged: 1 });
    expect(judge({ log: twice })).toMatchObject({ unlogged: 1 });
    expect(judge({ changes: [change] })).toMatchObject({ unlogged: 1 });
  });

  test('finds ids that do not rise', () => {
    expect(judge({ log: [other, first, second] }).broken).toHaveLength(1);
    expect(judge({ log: [logged(11, 3, 1), other, logged(13, 1, 1)] }).broken).toHaveLength(1);
  });
});
