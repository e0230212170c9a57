import { expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import type { LoggedEvent } from '@parley/contract';
import { bodyOf } from '../harness/check.ts';
import type { Arrival } from '../harness/evidence.ts';
import { Ledger } from './ledger.ts';

const secret = 'a secret';
const webhookId = 7;

const event = (event_id: number, chat_id: number): LoggedEvent =>
  ({
    event_id,
    event: 'new_message',
    timestamp: '2026-01-01T12:00:00.000Z',
    data: { message_id: event_id, chat_id, user_id: 1, content: `message ${event_id}` },
  }) as LoggedEvent;

/** A request as the server makes it, accepted unless it is said otherwise. */
function arrival(of: LoggedEvent, at: number, acceptedAt: number | undefined = at): Arrival {
  const id = String(of.event_id);
  const body = Buffer.from(bodyOf(of));
  const sign = (encoding: 'hex' | 'base64', ...parts: (string | Buffer)[]) => {
    const hmac = createHmac('sha256', secret);
    for (const part of parts) hmac.update(part);
    return hmac.digest(encoding);
  };
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': '1',
    'webhook-signature': `v1,${sign('base64', `${id}.1.`, body)}`,
    'x-webhook-attempt': '1',
    'x-webhook-event': of.event,
    'x-webhook-id': id,
    'x-webhook-registration': String(webhookId),
    'x-webhook-signature': `sha256=${sign('hex', body)}`,
  };
  return { header: (name) => headers[name] ?? '', body, at, acceptedAt };
}

function newLedger() {
  const arrivals: Arrival[] = [];
  const ledger = new Ledger({ name: 'one', webhookId, secret }, arrivals, () => true);
  return { ledger, arrivals };
}

test('what is delivered in order is settled part by part, each event once', () => {
  const { ledger, arrivals } = newLedger();
  const events = [1, 2, 3, 4, 5, 6].map((id) => event(id, id % 2));
  ledger.expect(events.slice(0, 4));
  arrivals.push(...events.slice(0, 3).map((one) => arrival(one, one.event_id)));
  ledger.settle(false);
  expect(ledger.open).toBe(1);
  expect(arrivals).toEqual([]);
  ledger.expect(events.slice(4));
  arrivals.push(...events.slice(3).map((one) => arrival(one, one.event_id)));
  ledger.settle(false);
  ledger.settle(true);
  expect(ledger.open).toBe(0);
  expect(ledger.broken).toEqual([]);
  expect(ledger.counts).toMatchObject({ delivered: 6, repeats: 0, lost: 0, outOfOrder: 0, unknown: 0 });
});

test('what comes before the one ahead of it in its chat is seen, also where that was settled in another part', () => {
  const { ledger, arrivals } = newLedger();
  const [before, after] = [event(1, 9), event(2, 9)];
  ledger.expect([before]);
  // The second one came at 5 and the first was accepted at 6.
  const early = arrival(after, 5);
  arrivals.push(early, arrival(before, 4, 6));
  ledger.settle(false);
  expect(ledger.broken).toEqual([]);
  ledger.expect([after]);
  ledger.settle(false);
  expect(ledger.counts).toMatchObject({ delivered: 2, outOfOrder: 1 });
  expect(ledger.broken).toHaveLength(1);
});

test('what was refused waits, and is lost where it is not accepted until the end', () => {
  const { ledger, arrivals } = newLedger();
  const events = [event(1, 1), event(2, 2)] as const;
  ledger.expect(events);
  arrivals.push({ ...arrival(events[0], 1), acceptedAt: undefined }, arrival(events[1], 2));
  ledger.settle(false);
  expect(ledger.open).toBe(2);
  expect(ledger.broken).toEqual([]);
  ledger.settle(true);
  expect(ledger.counts).toMatchObject({ delivered: 1, lost: 1 });
});

test('what comes again is a repeat, before and after it was settled', () => {
  const { ledger, arrivals } = newLedger();
  const one = event(1, 1);
  ledger.expect([one]);
  arrivals.push({ ...arrival(one, 1), acceptedAt: undefined }, arrival(one, 2));
  ledger.settle(false);
  arrivals.push(arrival(one, 3));
  ledger.settle(false);
  ledger.settle(true);
  expect(ledger.broken).toEqual([]);
  expect(ledger.counts).toMatchObject({ delivered: 1, repeats: 2, unknown: 0 });
});

test('what the log does not know is seen at the end', () => {
  const { ledger, arrivals } = newLedger();
  arrivals.push(arrival(event(3, 1), 1));
  ledger.settle(false);
  expect(ledger.broken).toEqual([]);
  ledger.settle(true);
  expect(ledger.counts.unknown).toBe(1);
});
