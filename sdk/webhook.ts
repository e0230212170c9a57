import type { NewEvent } from '@parley/contract';
import type { OtherName } from './other-name.ts';

interface Envelope {
  /** The event's id, the same on every attempt and in every replay: by it a receiver knows what it has seen. */
  readonly id: string;
  /** When it happened: ISO 8601 in UTC. */
  readonly timestamp: string;
}

/** An event that this version of the SDK has no type for: a newer server may send one. */
export interface UnknownWebhookEvent extends Envelope {
  readonly event: OtherName;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What a delivery tells. Comparing `event` with a name gives `data` its type. */
export type WebhookEvent = (NewEvent & Envelope) | UnknownWebhookEvent;

export type WebhookFault =
  | 'missing_headers'
  | 'malformed_headers'
  | 'bad_signature'
  | 'too_old'
  | 'too_new'
  | 'bad_body';

/** The delivery is not to be believed: answer 401. */
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
  /** How far the sender's clock and this one may be apart, in seconds; 300 where nothing is said. */
  readonly toleranceSeconds?: number | undefined;
  /**
   * Accepts a delivery that has `X-Webhook-Signature` alone. Nothing in it tells when it was sent, so whoever has
   * recorded one can send it again for ever: remember every `id`, which is then the signature.
   */
  readonly allowUnstamped?: boolean | undefined;
  /** The time in milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
}

/**
 * Answers the event of a delivery, or throws a `WebhookVerificationError`. `body` is the raw body: parsing it and writing
 * it again gives other bytes. A call that can never succeed, such as one without a secret, throws a `TypeError`.
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
        'The delivery has no webhook-signature, so nothing tells when it was sent.',
      );
    }
    await checkPlain(keys, plain, bytes);
    // X-Webhook-Id is not signed. The signature is the same for the same bytes, and nobody else can make another.
    return readEvent(plain, bytes);
  }

  const signatures = await checkStamped(keys, stamp, bytes);
  // During a rotation this header is made with the new secret alone, which the receiver may not have yet.
  if (plain !== undefined && signatures === 1) await checkPlain(keys, plain, bytes);
  checkTime(stamp.timestamp, now(), toleranceSeconds);
  return readEvent(stamp.id, bytes);
}

/** A copy, so that what is parsed in the end is what was verified, whatever becomes of the caller's buffer. */
function copyBytes(body: unknown): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body.slice(0));
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice();
  throw new TypeError('The body must be the raw one: a string, a Uint8Array or an ArrayBuffer.');
}

const algorithm = { name: 'HMAC', hash: 'SHA-256' };

async function importKeys(secret: unknown): Promise<CryptoKey[]> {
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  if (secrets.length === 0) throw new TypeError('There is no secret to verify with.');
  return Promise.all(
    secrets.map((one) => {
      // An empty secret would be one that everybody knows.
      if (typeof one !== 'string' || one === '') throw new TypeError('A secret must be a string that is not empty.');
      return crypto.subtle.importKey('raw', new TextEncoder().encode(one), algorithm, false, ['verify']);
    }),
  );
}

const headerForms = {
  // Without a dot, which would leave open where the id ends in the text that is signed.
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

/** The headers of Standard Webhooks: all three of them, or none. */
function readStamp(read: ReadHeader): Stamp | undefined {
  const id = read('webhook-id');
  const timestamp = read('webhook-timestamp');
  const signatures = read('webhook-signature');
  if (id !== undefined && timestamp !== undefined && signatures !== undefined) return { id, timestamp, signatures };
  if (id === undefined && timestamp === undefined && signatures === undefined) return undefined;
  throw new WebhookVerificationError(
    'missing_headers',
    'webhook-id, webhook-timestamp and webhook-signature belong together, and not all of them are there.',
  );
}

// The one way to write 32 bytes: the last letter of the base64 has bits to spare, and here they are zero.
const stampedForm = /^v1,([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)$/;
const plainForm = /^sha256=([0-9a-f]{64})$/;

/** Answers how many signatures there are: one for each secret that the sender honours. */
async function checkStamped(keys: readonly CryptoKey[], stamp: Stamp, body: Uint8Array<ArrayBuffer>): Promise<number> {
  // Signatures of versions yet to come stand in the same list.
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
  new WebhookVerificationError('bad_signature', `${header} does not fit the body and the secret.`);

/** The platform compares, in constant time. */
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
  // Asked in the negative, so that a clock that is not a number lets nothing pass.
  if (!(age <= tolerance)) throw new WebhookVerificationError('too_old', `It was sent ${age.toFixed(0)} s ago.`);
  if (!(age >= -tolerance)) {
    throw new WebhookVerificationError('too_new', `It was sent ${(-age).toFixed(0)} s in the future.`);
  }
}

function readEvent(id: string, bytes: Uint8Array): WebhookEvent {
  const { event, timestamp, data } = parseBody(bytes);
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  if (typeof event !== 'string' || typeof timestamp !== 'string' || !isObject) {
    throw new WebhookVerificationError('bad_body', 'The body is not {"event", "timestamp", "data"}.');
  }
  // The signature vouches for what `data` holds under this name.
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
