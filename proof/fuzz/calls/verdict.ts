import { isDeepStrictEqual } from 'node:util';
import {
  commonErrors,
  type ErrorCode,
  errors,
  eventNames,
  eventTable,
  isEventStream,
  isFile,
  type NamedOperation,
} from '@parley/contract';
import type { z } from 'zod';
import type { Damage } from './damage.ts';

/** A complete response, or the beginning of a stream. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly bytes: number;
}

/** No response may have these: no limit is set, and nothing is away. */
const never: readonly ErrorCode[] = ['internal', 'unavailable', 'rate_limited'];

/** The statuses of a file that are no errors. */
const aboutFiles = [200, 206, 304, 412, 416];

/** An error names at most twenty fields: it does not grow with the request. */
const maxErrorBytes = 16_384;

/** The parts of the request that the response depends on. */
export interface Asked {
  readonly method: string;
  readonly address: string;
  readonly damage: Damage | undefined;
}

/** The runtime refuses a longer head by itself. */
const maxHeadBytes = 16_384;

/** Fails if the contract does not have the response for the row. */
export function judge(row: NamedOperation, asked: Asked, answer: Answer): void {
  const { status, headers } = answer;
  if (status === 431 && asked.address.length > maxHeadBytes / 2) return;
  if (asked.method === 'OPTIONS') {
    demand(status === 204, `a preflight is answered with ${status}`);
    return;
  }
  demand(/^\S+$/.test(headers.get('x-request-id') ?? ''), 'there is no X-Request-Id');
  if (status === 200 && isEventStream(row.output) && !isJson(headers)) judgeStream(answer);
  else if (aboutFiles.includes(status) && isFile(row.output) && !isJson(headers)) judgeFile(asked.method, answer);
  else judgeJson(row, asked, answer);
}

function judgeJson(row: NamedOperation, { method, damage }: Asked, { status, headers, text, bytes }: Answer): void {
  demand(isJson(headers), `the answer is ${headers.get('content-type')}`);
  // It has no body.
  if (method === 'HEAD') {
    demand(status >= 400 && status < 500, `a HEAD is answered with ${status}`);
    return;
  }
  const { success, ...rest } = parse(text);
  demand(success === (status === 200), `a ${status} has success: ${success}`);
  if (status === 200) {
    // Another URL may lead to another row.
    if (damage?.wrong !== 'address') conforms(row.output, rest);
    return;
  }
  judgeError(status, headers, rest, codesFor(row, damage));
  demand(bytes <= maxErrorBytes, `the error has ${bytes} bytes`);
}

function demand(isMet: boolean, complaint: string): void {
  if (!isMet) throw new Error(complaint);
}

const isJson = (headers: Headers): boolean => headers.get('content-type') === 'application/json; charset=utf-8';

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (cause) {
    throw new Error(`the answer is no JSON: ${text.slice(0, 200)}`, { cause });
  }
}

/** The codes of a row, and those of the error in the request. */
function codesFor(row: NamedOperation, damage: Damage | undefined): readonly ErrorCode[] {
  const ofRequest: readonly ErrorCode[] =
    damage?.wrong === 'method'
      ? ['method_not_allowed']
      : damage?.wrong === 'address'
        ? ['not_found', 'unknown_action', 'method_not_allowed']
        : [];
  return [...commonErrors, ...row.errors, ...ofRequest].filter((code) => !never.includes(code));
}

/** The one shape that every error has. */
export function judgeError(
  status: number,
  headers: Headers,
  body: Record<string, unknown>,
  codes: readonly ErrorCode[],
): void {
  const { code, message, details, request_id, ...more } = (body.error ?? {}) as Record<string, unknown>;
  demand(codes.includes(code as ErrorCode), `${status} ${String(code)}: ${String(message)} is not documented here`);
  demand(errors[code as ErrorCode].status === status, `${String(code)} has the status ${status}`);
  demand(typeof message === 'string' && message !== '', `${String(code)} has no message`);
  demand(request_id === headers.get('x-request-id'), 'the error names another request');
  demand(Object.keys(body).length === 1 && Object.keys(more).length === 0, 'the error has more in it');
  const isDetail = (detail: unknown) => isDeepStrictEqual(Object.keys(detail as object).sort(), ['field', 'message']);
  demand(Array.isArray(details) && details.length <= 20 && details.every(isDetail), 'the details are malformed');
}

/** Parsing drops unknown fields, so a difference means that the response has too many. */
function conforms(schema: z.ZodType, value: unknown): void {
  const read = schema.safeParse(value);
  if (!read.success) throw new Error(`the answer does not conform: ${read.error.message}`);
  demand(
    isDeepStrictEqual(read.data, value),
    `the answer has more than its schema: ${JSON.stringify(value).slice(0, 500)}`,
  );
  for (const { event, data } of (value as { events?: readonly { event: string; data: unknown }[] }).events ?? []) {
    const name = eventNames.find((known) => known === event);
    demand(name !== undefined, `there is no event ${event}`);
    if (name) conforms(eventTable[name].data, data);
  }
}

function judgeFile(method: string, { status, headers, bytes }: Answer): void {
  if (method === 'HEAD') return;
  const isWhole = status === 200 || status === 206;
  const length = Number(headers.get('content-length') ?? bytes);
  demand(isWhole ? length === bytes : bytes === 0, `a ${status} of ${length} bytes has ${bytes}`);
  const [, first, last] = /^bytes (\d+)-(\d+)\/\d+$/.exec(headers.get('content-range') ?? '') ?? [];
  if (status === 206)
    demand(Number(last) - Number(first) + 1 === bytes, `${headers.get('content-range')} has ${bytes}`);
}

function judgeStream({ headers, text }: Answer): void {
  demand(headers.get('content-type') === 'text/event-stream; charset=utf-8', 'the stream is of another type');
  for (const line of text.split('\n').slice(0, -1)) {
    demand(/^(?:(?:id|retry): \d+|event: [a-z_]+|data: \{.*\}|:.*|)$/.test(line), `the stream has the line ${line}`);
  }
}
