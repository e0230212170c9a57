import { hmac } from 'fast-sha256';
import type { consoleText } from '../../text/console/text.ts';

export type Verdict = keyof typeof consoleText.signatures.verdicts;
export type Part = keyof typeof consoleText.signatures.parts;

/** What somebody has pasted. */
export interface Pasted {
  readonly headers: string;
  readonly body: string;
  readonly secret: string;
}

/** What Parley has sent. */
export interface Known {
  readonly eventId: string;
  /** Null once the event has expired. */
  readonly body: string | null;
  /** The `webhook-timestamp` of the last attempt. */
  readonly time?: string | undefined;
}

export interface Difference {
  /** Both start at 1. */
  readonly line: number;
  readonly column: number;
  /** What stands there. Empty at the end. */
  readonly sent: string;
  readonly pasted: string;
}

export interface Report {
  readonly verdict: Verdict;
  /** Whether each part is right. Undefined if it could not be checked. */
  readonly checks: Readonly<Record<Part, boolean | undefined>>;
  /** When it was signed, in milliseconds since 1970. */
  readonly signedAt: number | undefined;
  /** Between the body that was sent and the one that was pasted. */
  readonly difference: Difference | undefined;
  /** The signature headers with this secret, of what was sent if it is known. */
  readonly expected: readonly string[];
}

const toleranceSeconds = 300;

const stampedForm = /^v1,[A-Za-z0-9+/]{43}=$/;
const plainForm = /^sha256=[0-9a-f]{64}$/;
const timeForm = /^\d{1,12}$/;

const encoder = new TextEncoder();
const mac = (secret: string, content: string): Uint8Array => hmac(encoder.encode(secret), encoder.encode(content));

const plainSignature = (secret: string, body: string): string =>
  `sha256=${Array.from(mac(secret, body), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;

const stampedSignature = (secret: string, id: string, time: string, body: string): string =>
  `v1,${btoa(String.fromCharCode(...mac(secret, `${id}.${time}.${body}`)))}`;

/** A line of headers: as HTTP has it, as an option of curl, or as a line of JSON. */
const headerLine = /^\s*(?:-H\s+)?["']*([\w-]+)["']?\s*[:=]\s*["']?(.*?)["']?,?\s*\\?$/;

/** Returns the headers in a text, by their names in lowercase. */
export function parseHeaders(text: string): ReadonlyMap<string, string> {
  const lines = text.trim().startsWith('{') ? text.replace(/[{}]/g, '').split(/,\s*(?=["'])/) : text.split('\n');
  return new Map(
    lines.flatMap((line) => {
      const [, name, value] = headerLine.exec(line.trim()) ?? [];
      return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value.trim()] as const];
    }),
  );
}

/** Returns headers as text, one on each line. */
export const writeHeaders = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

interface Signed {
  readonly id: string | undefined;
  readonly time: string | undefined;
  /** The entries of `webhook-signature`. */
  readonly entries: readonly string[] | undefined;
  readonly plain: string | undefined;
}

function signedOf(headers: ReadonlyMap<string, string>): Signed {
  const value = (name: string) => headers.get(name) || undefined;
  return {
    id: value('webhook-id'),
    time: value('webhook-timestamp'),
    entries: value('webhook-signature')?.split(/\s+/),
    plain: value('x-webhook-signature'),
  };
}

/** Says which part of a delivery does not match its signature. */
export function debugSignature(pasted: Pasted, known: Known | undefined, now: number): Report {
  const signed = signedOf(parseHeaders(pasted.headers));
  const verdict = judge(pasted, signed, known, now);
  return {
    verdict,
    checks: checksOf(pasted, signed, known, now),
    signedAt: signed.time !== undefined && timeForm.test(signed.time) ? Number(signed.time) * 1_000 : undefined,
    difference: known?.body == null || pasted.body === '' ? undefined : differenceOf(known.body, pasted.body),
    expected: verdict === 'valid' ? [] : expectedOf(pasted, signed, known),
  };
}

/** Returns whether `webhook-signature`, or the other one if there is no such, is made with a secret of a body. */
function matches({ id, time, entries, plain }: Signed, secret: string, body: string): boolean {
  if (entries) return entries.includes(stampedSignature(secret, id ?? '', time ?? '', body));
  return plain === plainSignature(secret, body);
}

/** Returns what is wrong with the headers themselves. */
function headerFault({ id, time, entries, plain }: Signed): Verdict | undefined {
  if (!entries && !plain) return 'noSignature';
  if (entries ? !id || !time : time !== undefined) return 'someMissing';
  const isKnown = (!entries || entries.some((entry) => stampedForm.test(entry))) && (!plain || plainForm.test(plain));
  if (!isKnown) return 'scheme';
  return time !== undefined && !timeForm.test(time) ? 'malformedTime' : undefined;
}

function judge({ headers, body, secret }: Pasted, signed: Signed, known: Known | undefined, now: number): Verdict {
  if (headers.trim() === '' && body === '') return 'empty';
  const fault = headerFault(signed);
  if (fault === 'noSignature' && known) return secret === '' ? 'noSecret' : 'ready';
  if (fault) return fault;
  if (secret === '') return 'noSecret';
  return matches(signed, secret, body)
    ? judgeTime(signed, secret, body, known, now)
    : causeOf(signed, secret, body, known);
}

/** The signature matches. */
function judgeTime(
  { id, time, entries, plain }: Signed,
  secret: string,
  body: string,
  known: Known | undefined,
  now: number,
): Verdict {
  if (!entries) return 'plainOnly';
  if (plain && plain !== plainSignature(secret, body)) {
    // During a rotation the first entry and the other header are made with the new secret.
    const isOld = entries[0] !== stampedSignature(secret, id ?? '', time ?? '', body);
    return isOld ? 'oldSecret' : 'plainDiffers';
  }
  // Nobody knows when the endpoint got an attempt that is in the past.
  if (time === known?.time) return 'valid';
  const age = now / 1_000 - Number(time);
  if (age > toleranceSeconds) return 'tooOld';
  return age < -toleranceSeconds ? 'tooNew' : 'valid';
}

/** Changes that are made by mistake. Undoing one of them makes the signature match. */
const bodyFixes: readonly (readonly [verdict: Verdict, undo: (body: string) => string])[] = [
  ['newlineAdded', (body) => body.replace(/[\r\n]+$/, '')],
  ['byteOrderMark', (body) => body.replace(/^\ufeff/, '')],
  ['serialized', compactJson],
];

const secretFixes: readonly (readonly [verdict: Verdict, undo: (secret: string) => string])[] = [
  ['secretSpaces', (secret) => secret.trim()],
  ['secretPrefix', (secret) => secret.replace(/^whsec_/, '')],
];

function compactJson(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body));
  } catch {
    return body;
  }
}

/** The signature does not match. Returns the likely cause. */
function causeOf(signed: Signed, secret: string, body: string, known: Known | undefined): Verdict {
  if (known && signed.id !== undefined && signed.id !== known.eventId) return 'otherDelivery';
  const bodyFix = bodyFixes.find(([, undo]) => matches(signed, secret, undo(body)));
  if (bodyFix) return bodyFix[0];
  // Whoever has the exact body can try secrets with it.
  const sent = known?.body ?? body;
  const secretFix = secretFixes.find(([, undo]) => undo(secret) !== secret && matches(signed, undo(secret), sent));
  if (secretFix) return secretFix[0];
  if (known?.body != null && matches(signed, secret, known.body)) return 'bodyChanged';
  if (signed.entries && signed.plain === plainSignature(secret, body)) return 'stampChanged';
  return known?.body != null ? 'wrongSecret' : 'mismatch';
}

function checksOf({ body, secret }: Pasted, signed: Signed, known: Known | undefined, now: number): Report['checks'] {
  const { time, entries, plain } = signed;
  const fault = headerFault(signed);
  const areThere = fault !== 'noSignature' && fault !== 'someMissing';
  const canMatch = areThere && fault === undefined && secret !== '';
  const isTime = time !== undefined && time !== known?.time && timeForm.test(time);
  return {
    headers: areThere,
    scheme: areThere ? fault !== 'scheme' : undefined,
    signature: canMatch && entries ? matches(signed, secret, body) : undefined,
    plain: plain && secret !== '' ? plain === plainSignature(secret, body) : undefined,
    time: isTime ? Math.abs(now / 1_000 - Number(time)) <= toleranceSeconds : undefined,
    body: known?.body == null || body === '' ? undefined : body === known.body,
  };
}

function expectedOf({ body, secret }: Pasted, { id, time }: Signed, known: Known | undefined): readonly string[] {
  const signed = known?.body ?? body;
  if (secret === '' || signed === '') return [];
  const eventId = known?.eventId ?? id;
  const stamped =
    eventId && time && timeForm.test(time)
      ? [`webhook-signature: ${stampedSignature(secret, eventId, time, signed)}`]
      : [];
  return [...stamped, `X-Webhook-Signature: ${plainSignature(secret, signed)}`];
}

/** Characters around a difference. */
const before = 16;
const after = 24;

const names: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const codeOf = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Returns the first difference of two texts, or undefined if they are equal. */
export function differenceOf(sent: string, pasted: string): Difference | undefined {
  if (sent === pasted) return undefined;
  let at = 0;
  while (at < sent.length && sent[at] === pasted[at]) at++;
  const lines = pasted.slice(0, at).split('\n');
  // Line breaks and the like are written as in JSON, so that they can be seen.
  const visible = (text: string) =>
    text.replace(/\p{Cc}|\ufeff/gu, (character) => names[character] ?? codeOf(character));
  const around = (text: string) => (at >= text.length ? '' : visible(text.slice(Math.max(0, at - before), at + after)));
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1, sent: around(sent), pasted: around(pasted) };
}
