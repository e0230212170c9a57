import { describe, expect, test } from 'bun:test';
import { deliveryHeaders } from '@parley/server/webhooks/headers.ts';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook } from '../webhook.ts';

const body = '{"event":"new_message","timestamp":"2026-01-01T12:00:00.000Z","data":{"content":"שלום 👋"}}';

const sign = (secrets: readonly [string, ...string[]], at: number = Date.now()) =>
  deliveryHeaders({ id: '7', body, at, secrets, event: 'x', attempt: 1, webhookId: 1, version: '0' });

/** The library takes a key as its bytes, or as base64 with a prefix. */
const readersOf = (secret: string) => {
  const bytes = new TextEncoder().encode(secret);
  return [new Webhook(bytes, { format: 'raw' }), new Webhook(`whsec_${Buffer.from(bytes).toString('base64')}`)];
};

describe('the library of Standard Webhooks', () => {
  test('accepts what the server signs, whatever the secret', () =>
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'binary' }), (secret) => {
        for (const reader of readersOf(secret)) {
          expect(reader.verify(body, sign([secret]))).toEqual(JSON.parse(body));
        }
      }),
    ));

  test('accepts both secrets of a rotation', () => {
    for (const reader of [...readersOf('new'), ...readersOf('old')]) {
      expect(reader.verify(body, sign(['new', 'old']))).toEqual(JSON.parse(body));
    }
  });

  test('refuses another secret, another body and an old attempt', () => {
    for (const reader of readersOf('secret')) {
      expect(() => reader.verify(body, sign(['another']))).toThrow('No matching signature');
      expect(() => reader.verify(`${body} `, sign(['secret']))).toThrow('No matching signature');
      expect(() => reader.verify(body, sign(['secret'], Date.now() - 400_000))).toThrow('too old');
    }
  });

  test('signs what verifyWebhook accepts', async () => {
    const at = new Date();
    for (const writer of readersOf('secret')) {
      const headers = {
        'webhook-id': 'msg_7',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': writer.sign('msg_7', at, body),
      };
      expect(await verifyWebhook(body, headers, 'secret')).toMatchObject({ id: 'msg_7', event: 'new_message' });
    }
  });
});
