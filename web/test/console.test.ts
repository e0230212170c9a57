import { describe, expect, test } from 'bun:test';
import { deliveryHeaders } from '@parley/server/webhooks/headers.ts';
import type { Delivery } from '@parley-chat/sdk';
import { EventChoice, eventNames, eventsOf } from '../ui/console/event-choice.ts';
import { explain, failureOf, redirectTarget } from '../ui/console/failure.ts';
import { noFilters, readFilters, refreshed, webhookPath } from '../ui/console/filters.ts';
import { debugSignature, differenceOf, type Known, parseHeaders } from '../ui/console/signature.ts';
import { parseRoute } from '../ui/route.ts';

describe('why an attempt failed', () => {
  test.each([
    [401, 'signature'],
    [403, 'signature'],
    [404, 'missing'],
    [405, 'method'],
    [410, 'gone'],
    [413, 'tooLarge'],
    [422, 'rejected'],
    [429, 'tooMany'],
    [500, 'broken'],
    [501, 'broken'],
    [502, 'away'],
    [503, 'away'],
    [504, 'away'],
    [199, 'unexpected'],
  ] as const)('status %p is %p', (status, kind) =>
    expect(failureOf({ status, error: null, cause: 'status' })).toBe(kind),
  );

  test('is said with the status or the error in it, and with a next step', () => {
    expect(explain({ status: 301, error: 'the endpoint responded with 301', cause: 'redirect' })).toMatchObject({
      short: 'Redirect',
      what: 'The endpoint responded with 301, a redirect. Parley does not follow redirects.',
    });
    const moved = { cause: 'redirect', answer: 'Location: /new\n\nMoved' } as const;
    expect(redirectTarget(moved, 'https://a.example/old')).toBe('https://a.example/new');
    expect(redirectTarget({ ...moved, answer: 'Location: javascript:1\n\n' }, 'https://a.example/')).toBeUndefined();
    const timeout = explain({ status: null, error: 'no complete response within 15 s', cause: 'timeout' });
    expect(timeout?.what).toContain('did not respond in time');
    expect(timeout?.next).not.toBe('');
    expect(explain({ status: null, error: 'the certificate has expired', cause: 'tls' })?.what).toContain(
      'the certificate has expired',
    );
    expect(explain({ status: 204, error: null, cause: null })).toBeUndefined();
  });
});

describe('events', () => {
  test('are chosen all, by noun or one by one', () => {
    const all = new EventChoice(['*']);
    expect(all.count(eventNames)).toBe(eventNames.length);
    const without = all.set(['new_message'], false);
    expect([without.isAll, without.has('new_message'), without.has('message_edited')]).toEqual([false, false, true]);
    const messages = new EventChoice([]).set(eventsOf('messages'), true);
    expect([...messages.names]).toEqual(eventsOf('messages') as string[]);
    expect(messages.setAll(true).names).toEqual(new Set(['*']));
    expect(messages.setAll(false).isEmpty).toBe(true);
  });

  test('of another version stay until they are removed', () => {
    const choice = new EventChoice(['new_message', 'poll_created']);
    expect(choice.unknown).toEqual(['poll_created']);
    expect([...choice.set(['new_message'], false).names]).toEqual(['poll_created']);
    expect(choice.set(['poll_created'], false).unknown).toEqual([]);
  });
});

describe('filters', () => {
  test('are in the URL, and come back from it', () => {
    const filters = {
      state: 'failed',
      event: 'new_message',
      chatId: 3,
      since: '2026-01-01T12:00:00.000Z',
      until: '2026-01-02T12:00:00.000Z',
      deliveryId: 9,
    } as const;
    const path = webhookPath(7, filters);
    const route = parseRoute(path);
    expect(route).toMatchObject({ name: 'console', page: 'webhooks', id: 7 });
    expect(route?.name === 'console' && readFilters(route.query)).toEqual(filters);
    expect(webhookPath(7)).toBe('/console/webhooks/7');
  });

  test('that cannot be are left out', () => {
    expect(readFilters('?state=sleeping&event=a b&chat=x&since=soon&delivery=-1')).toEqual(noFilters);
    // These pages say that there is no such thing.
    for (const path of ['/console/webhooks/x', '/console/bots/0', '/console/apps/1.5'])
      expect(parseRoute(path)).toMatchObject({ name: 'console', id: 0 });
    expect(parseRoute('/console/signatures/1')).toBeUndefined();
    expect(parseRoute('/console')).toMatchObject({ page: 'webhooks', id: undefined });
  });
});

test('a refresh renews the newest rows, and keeps those that were loaded below', () => {
  const row = (event_id: number, state: Delivery['state'], replay_id: number | null = null) =>
    ({ delivery_id: event_id * 10 + (replay_id ?? 0), event_id, state, replay_id }) as Delivery;
  const shown = { deliveries: [row(5, 'pending'), row(4, 'pending'), row(3, 'failed')], next: 2 };
  const fresh = { deliveries: [row(6, 'pending'), row(5, 'delivered'), row(4, 'delivered')], next: 40 };
  expect(refreshed(shown, fresh)).toEqual({ deliveries: [...fresh.deliveries, row(3, 'failed')], next: 2 });
  // The last page is all that there is.
  expect(refreshed(shown, { ...fresh, next: null })).toEqual({ ...fresh, next: null });
  // A replay of an event stands above its first delivery.
  const replayed = { deliveries: [row(4, 'delivered', 1)], next: 41 };
  expect(refreshed(shown, replayed).deliveries.map(({ delivery_id }) => delivery_id)).toEqual([41, 40, 30]);
});

describe('the signature debugger', () => {
  const secret = 'a secret of yours';
  const body = '{"event":"new_message","timestamp":"2026-01-01T12:00:00.000Z","data":{"content":"Grüße"}}';
  const at = Date.parse('2026-01-01T12:00:00.500Z');
  const sign = (secrets: readonly [string, ...string[]] = [secret]) =>
    deliveryHeaders({ id: '7', event: 'new_message', body, at, secrets, attempt: 1, webhookId: 1, version: '1' });
  const write = (headers: Readonly<Record<string, string>>) =>
    Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n');
  const headers = write(sign());
  const known: Known = { eventId: '7', body };
  const verdict = (
    pasted: Partial<{ headers: string; body: string; secret: string }>,
    delivery?: Known,
    now = at + 1_000,
  ) => debugSignature({ headers, body, secret, ...pasted }, delivery, now).verdict;
  const without = (...names: string[]) =>
    write(Object.fromEntries(Object.entries(sign()).filter(([name]) => !names.includes(name.toLowerCase()))));

  test('accepts what the server signs, also during a rotation', () => {
    expect(verdict({})).toBe('valid');
    const rotated = write(sign(['a new secret', secret]));
    expect(verdict({ headers: rotated })).toBe('oldSecret');
    expect(verdict({ headers: rotated.replace(/x-webhook-signature: .*/i, '') })).toBe('valid');
    expect(verdict({ headers: rotated, secret: 'a new secret' })).toBe('valid');
  });

  test('reads headers as programs print them', () => {
    const expected = { 'webhook-id': '7', 'webhook-timestamp': '12' };
    for (const text of [
      'Webhook-Id: 7\nwebhook-timestamp:12',
      "-H 'webhook-id: 7' \\\n-H 'webhook-timestamp: 12'",
      JSON.stringify(expected),
      JSON.stringify(expected, null, 2),
      "{'webhook-id': '7', 'webhook-timestamp': '12'}",
    ])
      expect([text, Object.fromEntries(parseHeaders(text))]).toEqual([text, expected]);
  });

  test('says what the headers lack', () => {
    expect(verdict({ headers: '', body: '' })).toBe('empty');
    expect(verdict({ headers: 'content-type: application/json' })).toBe('noSignature');
    expect(verdict({ headers: without('webhook-id') })).toBe('someMissing');
    expect(verdict({ headers: without('webhook-signature') })).toBe('someMissing');
    expect(verdict({ headers: headers.replace('v1,', 'v2,') })).toBe('scheme');
    expect(verdict({ headers: headers.replace('sha256=', 'sha1=') })).toBe('scheme');
    expect(verdict({ headers: headers.replace(/webhook-timestamp: .*/, 'webhook-timestamp: noon') })).toBe(
      'malformedTime',
    );
    expect(verdict({ secret: '' })).toBe('noSecret');
    const plain = without('webhook-id', 'webhook-timestamp', 'webhook-signature');
    expect(verdict({ headers: plain })).toBe('plainOnly');
    expect(verdict({ headers: plain, secret: 'another' }, known)).toBe('wrongSecret');
  });

  test('says when it was signed, if that is too long ago or to come', () => {
    expect(verdict({}, undefined, at + 299_000)).toBe('valid');
    expect(verdict({}, undefined, at + 302_000)).toBe('tooOld');
    expect(verdict({}, undefined, at - 302_000)).toBe('tooNew');
    // The headers of a past attempt are as old as it is.
    const time = sign()['webhook-timestamp'];
    expect(debugSignature({ headers, body, secret }, { ...known, time }, at + 302_000)).toMatchObject({
      verdict: 'valid',
      checks: { signature: true, time: undefined },
    });
    expect(debugSignature({ headers, body, secret }, undefined, at + 302_000)).toMatchObject({
      signedAt: Date.parse('2026-01-01T12:00:00.000Z'),
      checks: { signature: true, time: false },
    });
  });

  test('tells a wrong secret from a changed body', () => {
    expect(verdict({ secret: `${secret}\n` })).toBe('secretSpaces');
    expect(verdict({ secret: `whsec_${secret}` })).toBe('secretPrefix');
    expect(verdict({ secret: 'another' })).toBe('mismatch');
    expect(verdict({ secret: 'another' }, known)).toBe('wrongSecret');
    expect(verdict({ body: `${body}\n` })).toBe('newlineAdded');
    expect(verdict({ body: `\ufeff${body}` })).toBe('byteOrderMark');
    expect(verdict({ body: JSON.stringify(JSON.parse(body), null, 2) })).toBe('serialized');
    const edited = body.replace('Grüße', 'Gruesse');
    expect(verdict({ body: edited })).toBe('mismatch');
    expect(verdict({ body: edited }, known)).toBe('bodyChanged');
    expect(verdict({ headers: headers.replace(/webhook-id: 7$/m, 'webhook-id: 8') })).toBe('stampChanged');
    expect(verdict({ headers: headers.replace(/webhook-id: 7$/m, 'webhook-id: 8') }, known)).toBe('otherDelivery');
    expect(verdict({ headers: headers.replace(/sha256=../, 'sha256=00') })).toBe('plainDiffers');
  });

  test('makes the signatures of a delivery from the secret', () => {
    const asked = { headers: without('webhook-signature', 'x-webhook-signature'), body, secret };
    const report = debugSignature(asked, known, at);
    expect(report.verdict).toBe('ready');
    expect(report.expected).toEqual([
      `webhook-signature: ${sign()['webhook-signature']}`,
      `X-Webhook-Signature: ${sign()['X-Webhook-Signature']}`,
    ]);
  });

  test('shows the first difference', () => {
    expect(differenceOf(body, body)).toBeUndefined();
    expect(differenceOf('{"a":1}', '{"a":1}\n')).toEqual({ line: 1, column: 8, sent: '', pasted: '{"a":1}\\n' });
    expect(differenceOf('{"a":1}', '{\n  "a": 1}')).toMatchObject({ line: 1, column: 2 });
    const report = debugSignature({ headers, body: `${body}\n`, secret }, known, at);
    expect([report.verdict, report.difference?.pasted.endsWith('\\n')]).toEqual(['newlineAdded', true]);
  });
});
