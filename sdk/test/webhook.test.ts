import { describe, expect, test } from 'bun:test';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { deliveryHeaders } from '@parley/server/webhooks/headers.ts';
import fc from 'fast-check';
import { type VerifyOptions, verifyWebhook, type WebhookFault, WebhookVerificationError } from '../webhook.ts';

const secret = 'a secret of yours';
const body =
  '{"event":"new_message","timestamp":"2026-01-01T12:00:00.000Z","data":{"message_id":3,"chat_id":1,"user_id":3,"content":"שלום 👋"}}';
const at = Date.parse('2026-01-01T12:00:00Z');
const now = () => at;

type Plain = Record<string, string>;
type Verdict = WebhookFault | 'ok';

/** The headers that the server sends. */
const sign = (secrets: readonly [string, ...string[]] = [secret], text = body, time = at): Plain =>
  deliveryHeaders({ id: '7', body: text, at: time, secrets, event: 'x', attempt: 1, webhookId: 1, version: '0' });

const without = (headers: Plain, ...names: string[]): Plain =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));

const unstamped = (headers: Plain) => without(headers, 'webhook-id', 'webhook-timestamp', 'webhook-signature');

/** `ok`, or the reason why not. What is neither fails the test. */
async function verdict(
  headers: Parameters<typeof verifyWebhook>[1],
  options: VerifyOptions & { secret?: string | readonly string[]; body?: string | Uint8Array } = {},
): Promise<Verdict> {
  try {
    await verifyWebhook(options.body ?? body, headers, options.secret ?? secret, { now, ...options });
    return 'ok';
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.reason;
    throw error;
  }
}

describe('a delivery of the server', () => {
  test('gives the event with its id', async () => {
    expect<unknown>(await verifyWebhook(body, sign(), secret, { now })).toEqual({
      id: '7',
      event: 'new_message',
      timestamp: '2026-01-01T12:00:00.000Z',
      data: { message_id: 3, chat_id: 1, user_id: 3, content: 'שלום 👋' },
    });
  });

  test('is read with the type that its name has', async () => {
    const event = await verifyWebhook(body, sign(), secret, { now });
    if (event.event !== 'new_message') throw new Error(event.event);
    const content: string = event.data.content;
    expect(content).toBe('שלום 👋');
  });

  test('may tell of an event that this version does not know', async () => {
    const text = '{"event":"moon_landing","timestamp":"2026-01-01T12:00:00.000Z","data":{"crew":[1,2]},"more":1}';
    const event = await verifyWebhook(text, sign([secret], text), secret, { now });
    switch (event.event) {
      case 'new_message':
      case 'message_edited':
        throw new Error(event.data.content);
      default:
        expect<unknown>(event).toEqual({
          id: '7',
          event: 'moon_landing',
          timestamp: '2026-01-01T12:00:00.000Z',
          data: { crew: [1, 2] },
        });
    }
  });

  test('is verified by the clock of the machine where none is given', async () => {
    expect((await verifyWebhook(body, sign([secret], body, Date.now()), secret)).id).toBe('7');
    await expect(verifyWebhook(body, sign(), secret)).rejects.toMatchObject({ reason: 'too_old' });
  });

  test.each([
    ['a string', body],
    ['bytes', new TextEncoder().encode(body)],
    ["a part of a larger buffer, as Node's often are", Buffer.from(`..${body}..`).subarray(2, -2)],
    ['an ArrayBuffer', new TextEncoder().encode(body).buffer],
  ])('is taken as %s', async (_, form) => {
    expect((await verifyWebhook(form, sign(), secret, { now })).event).toBe('new_message');
  });

  test('is verified as it was when the call was made', async () => {
    const bytes = new TextEncoder().encode(body);
    const verified = verifyWebhook(bytes, sign(), secret, { now });
    bytes.fill(0x20);
    expect((await verified).event).toBe('new_message');
  });

  test.each<[string, Parameters<typeof verifyWebhook>[1]]>([
    ['Headers', new Headers(sign())],
    ['lower case, as Node gives them', Object.fromEntries(new Headers(sign())) satisfies IncomingHttpHeaders],
    ['upper case', Object.fromEntries(Object.entries(sign()).map(([name, value]) => [name.toUpperCase(), value]))],
    ['lists of one', Object.fromEntries(Object.entries(sign()).map(([name, value]) => [name, [value]]))],
    ['a record with gaps', { ...sign(), cookie: undefined, 'set-cookie': ['a', 'b'] }],
  ])('has its headers in %s', async (_, headers) => {
    expect(await verdict(headers)).toBe('ok');
  });
});

/** Computed with `openssl dgst -sha256 -hmac` and again with Python's hmac. */
const vectors = [
  {
    secret,
    hex: '4d2ebe0260ce2d642cdf33b76cd74a1c82b008c273c5f588ab5b6c11338eaf26',
    base64: '6Yljee9y/dhcwFkdf18aAi8ZGdJeR0+z2qFOCuRXA48=',
  },
  {
    secret: 'ключ ✓',
    hex: 'a264dd9c9b510a6f5fb52dc674a0278625d4e6456227e2c08f46393795747919',
    base64: 'I2yZNW8B0xZP6qfVHt1hTtWG7goCZeNqzk5eA9sh0ZU=',
  },
];

test.each(vectors)('signatures that other programs made with $secret are valid', async (vector) => {
  const stamped = {
    'webhook-id': '7',
    'webhook-timestamp': '1767268800',
    'webhook-signature': `v1,${vector.base64}`,
  };
  const plain = { 'X-Webhook-Signature': `sha256=${vector.hex}` };
  expect(await verdict(stamped, { secret: vector.secret })).toBe('ok');
  expect(await verdict({ ...stamped, ...plain }, { secret: vector.secret })).toBe('ok');
  expect(await verdict(plain, { secret: vector.secret, allowUnstamped: true })).toBe('ok');
  expect(sign([vector.secret])).toMatchObject({ ...stamped, ...plain });
});

describe('which headers decide', () => {
  const signed = sign();
  const otherPlain = { 'X-Webhook-Signature': sign(['another'])['X-Webhook-Signature'] ?? '' };
  const rotated = sign(['new', secret]);

  const rules: readonly [what: string, headers: Plain, byDefault: Verdict, unstampedToo: Verdict][] = [
    ['both signatures valid', signed, 'ok', 'ok'],
    ['webhook-signature alone', without(signed, 'X-Webhook-Signature'), 'ok', 'ok'],
    ['X-Webhook-Signature alone', unstamped(signed), 'missing_headers', 'ok'],
    ['X-Webhook-Signature alone, of another secret', otherPlain, 'missing_headers', 'bad_signature'],
    ['no signature', unstamped(without(signed, 'X-Webhook-Signature')), 'missing_headers', 'missing_headers'],
    ['no headers at all', {}, 'missing_headers', 'missing_headers'],
    ['no webhook-id', without(signed, 'webhook-id'), 'missing_headers', 'missing_headers'],
    ['no webhook-timestamp', without(signed, 'webhook-timestamp'), 'missing_headers', 'missing_headers'],
    ['no webhook-signature', without(signed, 'webhook-signature'), 'missing_headers', 'missing_headers'],
    ['both of another secret', sign(['another']), 'bad_signature', 'bad_signature'],
    ['X-Webhook-Signature of another secret', { ...signed, ...otherPlain }, 'bad_signature', 'bad_signature'],
    [
      'webhook-signature of another secret',
      { ...sign(['another']), 'X-Webhook-Signature': signed['X-Webhook-Signature'] ?? '' },
      'bad_signature',
      'bad_signature',
    ],
    ['a rotation, seen with the old secret', rotated, 'ok', 'ok'],
    ['a rotation, seen with the new secret', sign([secret, 'old']), 'ok', 'ok'],
    ['a rotation between two other secrets', sign(['new', 'old']), 'bad_signature', 'bad_signature'],
    ['a rotation, with X-Webhook-Signature alone', unstamped(rotated), 'missing_headers', 'bad_signature'],
    ['too old', sign([secret], body, at - 301_000), 'too_old', 'too_old'],
    ['too new', sign([secret], body, at + 301_000), 'too_new', 'too_new'],
    ['a rotation that is too old', sign(['new', secret], body, at - 301_000), 'too_old', 'too_old'],
  ];

  test.each([...rules])('%s', async (_, headers, byDefault, unstampedToo) => {
    expect(await verdict(headers)).toBe(byDefault);
    expect(await verdict(headers, { allowUnstamped: true })).toBe(unstampedToo);
  });

  test('a receiver with both secrets believes either', async () => {
    for (const secrets of [['new'], ['old'], ['new', 'old']] as const) {
      expect(await verdict(sign([...secrets]), { secret: ['old', 'new'] })).toBe('ok');
    }
    expect(await verdict(sign(['third']), { secret: ['old', 'new'] })).toBe('bad_signature');
  });

  test('signatures of other versions are passed over', async () => {
    const valid = signed['webhook-signature'];
    for (const list of [`v1a,AAAA ${valid}`, `v2 ${valid}`, ` ${valid} `, `${valid} ,`]) {
      expect(await verdict({ ...signed, 'webhook-signature': list })).toBe('ok');
    }
    const asAnother = (valid ?? '').replace('v1,', 'v2,');
    expect(await verdict({ ...signed, 'webhook-signature': asAnother })).toBe('bad_signature');
  });

  test('a signature has one spelling, though base64 could write the same bytes in four', async () => {
    expect(signed['webhook-signature']).toEndWith('48=');
    for (const other of ['49=', '4+=', '4/=', '48', '48==']) {
      const list = (signed['webhook-signature'] ?? '').replace(/48=$/, other);
      expect(await verdict({ ...signed, 'webhook-signature': list })).toBe('bad_signature');
    }
  });

  test('the id is the one that is signed', async () => {
    const event = await verifyWebhook(body, { ...signed, 'X-Webhook-Id': '8' }, secret, { now });
    expect(event.id).toBe('7');
  });

  test('without a stamp the id is the signature, so that another one cannot be made up', async () => {
    const headers = { ...unstamped(signed), 'X-Webhook-Id': '8' };
    const event = await verifyWebhook(body, headers, secret, { allowUnstamped: true });
    expect(event.id).toBe(signed['X-Webhook-Signature'] ?? '');
  });
});

describe('time', () => {
  const sent = (secondsAgo: number, options: VerifyOptions = {}) =>
    verdict(sign([secret], body, at - secondsAgo * 1_000), options);

  test('300 seconds are tolerated in both directions', async () => {
    expect(await Promise.all([300, 301, -300, -301].map((seconds) => sent(seconds)))).toEqual([
      'ok',
      'too_old',
      'ok',
      'too_new',
    ]);
  });

  test('another tolerance can be set', async () => {
    expect(await sent(10, { toleranceSeconds: 10 })).toBe('ok');
    expect(await sent(11, { toleranceSeconds: 10 })).toBe('too_old');
    expect(await sent(0, { toleranceSeconds: 0 })).toBe('ok');
  });

  test('a clock that tells no time lets nothing pass', async () => {
    expect(await sent(0, { now: () => Number.NaN })).toBe('too_old');
  });

  test('a forged time is told from an old one', async () => {
    expect(await verdict({ ...sign(), 'webhook-timestamp': '1' })).toBe('bad_signature');
  });
});

describe('what is malformed is refused with a reason', () => {
  const cases: readonly [what: string, change: Record<string, unknown>, reason: WebhookFault][] = [
    ['an empty id', { 'webhook-id': '' }, 'malformed_headers'],
    ['an id with a dot', { 'webhook-id': '7.1' }, 'malformed_headers'],
    ['a huge id', { 'webhook-id': '7'.repeat(1_000_000) }, 'malformed_headers'],
    ['two ids', { 'webhook-id': ['7', '8'] }, 'malformed_headers'],
    ['an id in two spellings', { 'Webhook-Id': '7' }, 'malformed_headers'],
    ['an id that is a number', { 'webhook-id': 7 }, 'malformed_headers'],
    ['an id that is an object', { 'webhook-id': { toString: () => '7' } }, 'malformed_headers'],
    ['no id', { 'webhook-id': null }, 'missing_headers'],
    ['an empty list of ids', { 'webhook-id': [] }, 'missing_headers'],
    ['a time in words', { 'webhook-timestamp': 'now' }, 'malformed_headers'],
    ['a time that is not a number', { 'webhook-timestamp': 'NaN' }, 'malformed_headers'],
    ['a time below zero', { 'webhook-timestamp': '-1' }, 'malformed_headers'],
    ['a time with a fraction', { 'webhook-timestamp': '1767268800.0' }, 'malformed_headers'],
    ['a time without end', { 'webhook-timestamp': '1'.repeat(400) }, 'malformed_headers'],
    ['a time with a space', { 'webhook-timestamp': ' 1767268800' }, 'malformed_headers'],
    ['an empty signature', { 'webhook-signature': '' }, 'malformed_headers'],
    ['a huge list', { 'webhook-signature': 'v1,A '.repeat(200_000) }, 'malformed_headers'],
    ['a signature in another script', { 'webhook-signature': 'v1,ключ' }, 'malformed_headers'],
    ['a version alone', { 'webhook-signature': 'v1' }, 'bad_signature'],
    ['an empty value', { 'webhook-signature': 'v1,' }, 'bad_signature'],
    ['not base64', { 'webhook-signature': `v1,${'!'.repeat(44)}` }, 'bad_signature'],
    ['hex in place of base64', { 'webhook-signature': `v1,${'0'.repeat(64)}` }, 'bad_signature'],
    ['an empty X-Webhook-Signature', { 'X-Webhook-Signature': '' }, 'malformed_headers'],
    ['a huge X-Webhook-Signature', { 'X-Webhook-Signature': '0'.repeat(1_000_000) }, 'malformed_headers'],
    ['another algorithm', { 'X-Webhook-Signature': 'md5=00' }, 'bad_signature'],
    ['too short', { 'X-Webhook-Signature': 'sha256=4d' }, 'bad_signature'],
    ['capitals', { 'X-Webhook-Signature': (sign()['X-Webhook-Signature'] ?? '').toUpperCase() }, 'bad_signature'],
  ];

  test.each([...cases])('%s', async (_, change, reason) => {
    expect(await verdict({ ...sign(), ...change } as Plain)).toBe(reason);
  });

  test.each([
    ['no JSON', 'hello'],
    ['nothing', ''],
    ['null', 'null'],
    ['a number', '7'],
    ['a list', '[1]'],
    ['no data', '{"event":"a","timestamp":"b"}'],
    ['data that is null', '{"event":"a","timestamp":"b","data":null}'],
    ['data that is a list', '{"event":"a","timestamp":"b","data":[]}'],
    ['a name that is a number', '{"event":1,"timestamp":"b","data":{}}'],
    ['a time that is a number', '{"event":"a","timestamp":1,"data":{}}'],
    ['a mark before the first brace', `\ufeff${body}`],
  ])('a signed body that is %s', async (_, text) => {
    expect(await verdict(sign([secret], text), { body: text })).toBe('bad_body');
  });

  test('bytes that are no UTF-8', async () => {
    const bytes = new Uint8Array([...new TextEncoder().encode(body)].map((byte) => (byte > 0x7f ? 0xff : byte)));
    const hmac = new Bun.CryptoHasher('sha256', secret).update(bytes).digest('hex');
    const headers = { 'x-webhook-signature': `sha256=${hmac}` };
    expect(await verdict(headers, { body: bytes, allowUnstamped: true })).toBe('bad_body');
  });
});

describe('a call that can never succeed is a TypeError', () => {
  type Call = Parameters<typeof verifyWebhook>;
  const calls: readonly [what: string, call: unknown[]][] = [
    ['a body that was parsed', [JSON.parse(body), sign(), secret]],
    ['no body', [undefined, sign(), secret]],
    ['an empty secret', [body, sign(['']), '']],
    ['no secret', [body, sign(), undefined]],
    ['an empty list of secrets', [body, sign(), []]],
    ['a list with an empty secret', [body, sign(['']), [secret, '']]],
    ['a secret that is a number', [body, sign(), 7]],
    ['no headers', [body, null, secret]],
    ['headers in one string', [body, 'webhook-id: 7', secret]],
    ['a tolerance that is not a number', [body, sign(), secret, { toleranceSeconds: Number.NaN }]],
    ['a tolerance without end', [body, sign(), secret, { toleranceSeconds: Number.POSITIVE_INFINITY }]],
    ['a tolerance below zero', [body, sign(), secret, { toleranceSeconds: -1 }]],
    ['a tolerance in words', [body, sign(), secret, { toleranceSeconds: '300' }]],
  ];

  test.each([...calls])('%s', async (_, call) => {
    await expect(verifyWebhook(...(call as Call))).rejects.toThrow(TypeError);
  });
});

describe('whatever is changed', () => {
  const encoder = new TextEncoder();
  const delivery = fc.record({
    text: fc.json().map((data) => `{"event":"a","timestamp":"b","data":{"value":${data}}}`),
    secret: fc.string({ minLength: 1, unit: 'binary' }),
    id: fc.stringMatching(/^[\w-]{1,40}$/),
    time: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  });
  type Delivery = typeof delivery extends fc.Arbitrary<infer D> ? D : never;
  const signed = (d: Delivery) =>
    deliveryHeaders({
      id: d.id,
      body: d.text,
      at: d.time,
      secrets: [d.secret],
      event: 'a',
      attempt: 1,
      webhookId: 1,
      version: '0',
    });
  const outcome = (d: Delivery, headers: Plain, bytes: Uint8Array = encoder.encode(d.text)) =>
    verdict(headers, { body: bytes, secret: d.secret, now: () => d.time });

  test('what the server signs is valid, and one bit of the body, a longer or a shorter one are not', () =>
    fc.assert(
      fc.asyncProperty(delivery, fc.nat(), fc.integer({ min: 0, max: 7 }), async (d, index, bit) => {
        const headers = signed(d);
        const bytes = encoder.encode(d.text);
        expect(await outcome(d, headers)).toBe('ok');
        const flipped = bytes.map((byte, i) => (i === index % bytes.length ? byte ^ (1 << bit) : byte));
        expect(await outcome(d, headers, flipped)).toBe('bad_signature');
        expect(await outcome(d, headers, bytes.subarray(0, -1))).toBe('bad_signature');
        expect(await outcome(d, headers, encoder.encode(`${d.text} `))).toBe('bad_signature');
      }),
    ));

  test('a changed character of id, time or signature is never valid', () =>
    fc.assert(
      fc.asyncProperty(
        delivery,
        fc.constantFrom('webhook-id', 'webhook-timestamp', 'webhook-signature', 'X-Webhook-Signature'),
        fc.nat(),
        fc.string({ minLength: 0, maxLength: 2, unit: 'binary-ascii' }),
        async (d, name, index, piece) => {
          const headers = signed(d);
          const value = headers[name] ?? '';
          const place = index % value.length;
          const changed = value.slice(0, place) + piece + value.slice(place + 1);
          // Spaces around a signature separate it from others in its list, of which there are none.
          fc.pre(changed.trim() !== value);
          expect(await outcome(d, { ...headers, [name]: changed })).not.toBe('ok');
        },
      ),
    ));

  test('another secret never fits', () =>
    fc.assert(
      fc.asyncProperty(delivery, fc.string({ minLength: 1, unit: 'binary' }), async (d, other) => {
        // HMAC fills a short key up with zeros.
        fc.pre(other.replace(/\0+$/, '') !== d.secret.replace(/\0+$/, ''));
        expect(await outcome({ ...d, secret: other }, signed(d))).toBe('bad_signature');
      }),
    ));

  test('headers of any kind give a reason, never a crash or a pass', () =>
    fc.assert(
      fc.asyncProperty(
        fc.dictionary(
          fc.constantFrom('webhook-id', 'webhook-timestamp', 'webhook-signature', 'X-Webhook-Signature', 'get'),
          fc.oneof(fc.string(), fc.array(fc.string()), fc.anything()),
        ),
        async (headers) => {
          expect(await verdict(headers as Plain, { allowUnstamped: true })).not.toBe('ok');
        },
      ),
    ));
});

describe('outside Bun', () => {
  const script = (file: string) => `
    import { verifyWebhook } from ${JSON.stringify(file)};
    const body = ${JSON.stringify(body)};
    const headers = ${JSON.stringify(sign())};
    const now = () => ${at};
    const secret = ${JSON.stringify(secret)};
    const bytes = new TextEncoder().encode(body);
    const reason = (...call) => verifyWebhook(...call).then((event) => event.data.content, (error) => error.reason ?? error.name);
    console.log(JSON.stringify(await Promise.all([
      reason(body, headers, secret, { now }),
      reason(bytes, new Headers(headers), secret, { now }),
      reason(bytes.buffer, headers, ['another', secret], { now }),
      reason(body + ' ', headers, secret, { now }),
      reason(body, headers, 'another', { now }),
      reason(body, headers, secret),
      reason(body, headers, ''),
    ])));`;
  const expected = ['שלום 👋', 'שלום 👋', 'שלום 👋', 'bad_signature', 'bad_signature', 'too_old', 'TypeError'];

  async function buildModule(): Promise<string> {
    const folder = temporaryFolder();
    const entrypoint = join(import.meta.dir, '../webhook.ts');
    const built = await Bun.build({
      entrypoints: [entrypoint],
      target: 'browser',
      naming: 'webhook.mjs',
      outdir: folder,
    });
    const [output] = built.outputs;
    if (!output) throw new Error('nothing was built');
    expect(new Bun.Transpiler({ loader: 'js' }).scanImports(await output.text())).toEqual([]);
    const file = join(folder, 'main.mjs');
    await Bun.write(file, script(output.path));
    return file;
  }

  async function run(command: readonly string[]): Promise<unknown> {
    const child = Bun.spawn([...command, await buildModule()], { stdout: 'pipe', stderr: 'pipe' });
    const [said, complaint] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    expect(complaint).toBe('');
    return JSON.parse(said);
  }

  test('it runs in Node', async () => {
    expect(await run(['node'])).toEqual(expected);
  });

  test.skipIf(!Bun.which('deno'))('it runs in Deno', async () => {
    expect(await run(['deno', 'run', '--quiet'])).toEqual(expected);
  });
});
