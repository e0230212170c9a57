import type { NewEvent } from './event-items.ts';
import type { OtherName } from './other-name.ts';

interface Envelope {
  /** The event's id. It is the same on every attempt and replay, so receivers use it to drop duplicates. */
  readonly id: string;
  /** When the event happened: ISO 8601 in UTC. */
  readonly timestamp: string;
}

/** An event that this version of the SDK has no type for. A newer server may send one. */
export interface UnknownWebhookEvent extends Envelope {
  readonly event: OtherName;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The event of a delivery. Comparing `event` with a name gives `data` its type. */
export type WebhookEvent = (NewEvent & Envelope) | UnknownWebhookEvent;

export type WebhookFault =
  | 'missing_headers'
  | 'malformed_headers'
  | 'bad_signature'
  | 'too_old'
  | 'too_new'
  | 'bad_body';

/** The delivery is not authentic. Respond with 401. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly reason: WebhookFault;

  constructor(reason: WebhookFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** The headers of a request as a `Headers`, or as Node and most frameworks give them. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** The maximum difference between the sender's clock and this one, in seconds. Defaults to 300. */
  readonly toleranceSeconds?: number | undefined;
  /**
   * Accepts a delivery that only has `X-Webhook-Signature`. It has no timestamp, so a recorded delivery can be replayed
   * forever. Remember every `id`, which is then the signature.
   */
  readonly allowUnstamped?: boolean | undefined;
  /** Returns the time in milliseconds since 1970. Defaults to `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/**
 * Returns the event of a delivery, or throws a `WebhookVerificationError`. `body` is the raw body: parsed and serialized
 * again, its bytes differ. A call that can never succeed, such as one without a secret, throws a `TypeError`.
 */
export async function verifyWebhook(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  const { toleranceSeconds = 300, allowUnstamped = false, now = Date.now } = options;
  if (!Number.isFinite(toleranceSeconds) || toleranceSeconds < 0) {
    throw new TypeError('toleranceSeconds must be a number of seconds.');
  }
  const bytes = copyBytes(body);
  const keys = await importKeys(secret);
  const read = headerReader(headers);

  const plain = read('x-webhook-signature');
  const stamp = readStamp(read);
  if (stamp === undefined) {
    if (plain === undefined) throw new WebhookVerificationError('missing_headers', 'The delivery is not signed.');
    if (!allowUnstamped) {
      throw new WebhookVerificationError(
        'missing_headers',
        'The delivery has no webhook-signature, so its age is unknown.',
      );
    }
    await checkPlain(keys, plain, bytes);
    // X-Webhook-Id is not signed. The signature identifies the bytes, and only the sender can make it.
    return readEvent(plain, bytes);
  }

  const signatures = await checkStamped(keys, stamp, bytes);
  // During a rotation the sender makes this header with the new secret only. The receiver may not have it yet.
  if (plain !== undefined && signatures === 1) await checkPlain(keys, plain, bytes);
  checkTime(stamp.timestamp, now(), toleranceSeconds);
  return readEvent(stamp.id, bytes);
}

/** Returns a copy, so that the bytes that are parsed are those that were verified. */
function copyBytes(body: unknown): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body.slice(0));
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice();
  throw new TypeError('The body must be the raw body: a string, a Uint8Array or an ArrayBuffer.');
}

const algorithm = { name: 'HMAC', hash: 'SHA-256' };

async function importKeys(secret: unknown): Promise<CryptoKey[]> {
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  if (secrets.length === 0) throw new TypeError('The list of secrets is empty.');
  return Promise.all(
    secrets.map((one) => {
      // Everybody knows the empty secret.
      if (typeof one !== 'string' || one === '') throw new TypeError('A secret must be a non-empty string.');
      return crypto.subtle.importKey('raw', new TextEncoder().encode(one), algorithm, false, ['verify']);
    }),
  );
}

const headerForms = {
  // A dot separates the id from the timestamp in the signed text, so the id has none.
  'webhook-id': /^[!-\-/-~]{1,256}$/,
  'webhook-timestamp': /^\d{1,12}$/,
  'webhook-signature': /^[ -~]{1,2048}$/,
  'x-webhook-signature': /^[ -~]{1,256}$/,
} as const;

type HeaderName = keyof typeof headerForms;
type ReadHeader = (name: HeaderName) => string | undefined;

function headerReader(headers: WebhookHeaders): ReadHeader {
  const valuesOf = headerValues(headers);
  return (name) => {
    const values = valuesOf(name);
    if (values.length === 0) return undefined;
    const [value] = values;
    if (values.length > 1 || typeof value !== 'string' || !headerForms[name].test(value)) {
      throw new WebhookVerificationError('malformed_headers', `The header ${name} is malformed.`);
    }
    return value;
  };
}

function headerValues(headers: unknown): (name: string) => readonly unknown[] {
  if (typeof headers !== 'object' || headers === null) throw new TypeError('The headers must be an object.');
  if ('get' in headers && typeof headers.get === 'function') {
    const { get } = headers;
    return (name) => [get.call(headers, name) ?? []].flat();
  }
  const entries = Object.entries(headers);
  return (name) => entries.flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : []));
}

interface Stamp {
  readonly id: string;
  readonly timestamp: string;
  readonly signatures: string;
}

/** Returns the headers of Standard Webhooks, or undefined if there is none. Throws if only some are there. */
function readStamp(read: ReadHeader): Stamp | undefined {
  const id = read('webhook-id');
  const timestamp = read('webhook-timestamp');
  const signatures = read('webhook-signature');
  if (id !== undefined && timestamp !== undefined && signatures !== undefined) return { id, timestamp, signatures };
  if (id === undefined && timestamp === undefined && signatures === undefined) return undefined;
  throw new WebhookVerificationError(
    'missing_headers',
    'The delivery must have webhook-id, webhook-timestamp and webhook-signature, or none of them.',
  );
}

// The canonical base64 of 32 bytes: the unused bits of the last letter are zero.
const stampedForm = /^v1,([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)$/;
const plainForm = /^sha256=([0-9a-f]{64})$/;

/** Returns the number of signatures: one for each valid secret of the sender. */
async function checkStamped(keys: readonly CryptoKey[], stamp: Stamp, body: Uint8Array<ArrayBuffer>): Promise<number> {
  // Signatures of future versions are in the same list.
  const signatures = stamp.signatures.split(' ').flatMap((part) => stampedForm.exec(part)?.[1] ?? []);
  const start = new TextEncoder().encode(`${stamp.id}.${stamp.timestamp}.`);
  const content = new Uint8Array(start.length + body.length);
  content.set(start);
  content.set(body, start.length);
  const macs = signatures.map((text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
  if (!(await anyMatches(keys, macs, content))) throw notSigned('webhook-signature');
  return signatures.length;
}

async function checkPlain(keys: readonly CryptoKey[], header: string, body: Uint8Array<ArrayBuffer>): Promise<void> {
  const [, hex = ''] = plainForm.exec(header) ?? [];
  const mac = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  if (!(await anyMatches(keys, [mac], body))) throw notSigned('X-Webhook-Signature');
}

const notSigned = (header: string) =>
  new WebhookVerificationError('bad_signature', `${header} does not match the body and the secret.`);

/** Web Crypto compares in constant time. */
async function anyMatches(
  keys: readonly CryptoKey[],
  macs: readonly Uint8Array<ArrayBuffer>[],
  content: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const verdicts = keys.flatMap((key) => macs.map((mac) => crypto.subtle.verify(algorithm, key, mac, content)));
  return (await Promise.all(verdicts)).includes(true);
}

function checkTime(timestamp: string, now: number, tolerance: number): void {
  const age = now / 1_000 - Number(timestamp);
  // Negated comparisons, so that NaN fails both.
  if (!(age <= tolerance))
    throw new WebhookVerificationError('too_old', `The delivery was sent ${age.toFixed(0)} s ago.`);
  if (!(age >= -tolerance)) {
    throw new WebhookVerificationError('too_new', `The delivery was sent ${(-age).toFixed(0)} s in the future.`);
  }
}

function readEvent(id: string, bytes: Uint8Array): WebhookEvent {
  const { event, timestamp, data } = parseBody(bytes);
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  if (typeof event !== 'string' || typeof timestamp !== 'string' || !isObject) {
    throw new WebhookVerificationError('bad_body', 'The body is not {"event", "timestamp", "data"}.');
  }
  // `data` is not validated: the signature proves that the server wrote it.
  return { id, event, timestamp, data } as WebhookEvent;
}

function parseBody(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return (value ?? {}) as Record<string, unknown>;
  } catch (cause) {
    throw new WebhookVerificationError('bad_body', 'The body is not JSON.', { cause });
  }
}
