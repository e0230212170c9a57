import { commonErrors, type ErrorCode, errors } from '../errors.ts';
import { fileField } from '../file-input.ts';
import type { NamedOperation } from '../table.ts';
import { pascalCase } from './names.ts';
import { type Json, reference } from './schemas.ts';

/** A GET has no body. */
const postOnly: readonly ErrorCode[] = ['payload_too_large', 'unsupported_media_type'];

/** Headers that come with a status. */
const headers: Readonly<Record<number, Json>> = {
  401: { 'WWW-Authenticate': { description: 'The challenge of RFC 6750.', schema: { type: 'string' } } },
  429: retryAfter(),
  503: retryAfter(),
};

function retryAfter(): Json {
  const schema = { type: 'integer', minimum: 0 };
  return { 'Retry-After': { description: 'Seconds to wait before the next request.', schema } };
}

/** Statuses that `invalid_request` has beside its own. */
const otherStatuses = {
  tooSlow: { status: 408, name: 'UploadTooSlow', when: 'The file arrives too slowly.' },
  wrongHost: { status: 421, name: 'WrongHost', when: 'The request is for another host than that of `PUBLIC_URL`.' },
} as const;

/** The error responses by name. Operations with the same codes share them. */
export class Failures {
  readonly byName: Json = {};

  /** Returns the error responses of an operation by status. */
  of(row: NamedOperation): Json {
    const isPossible = (code: ErrorCode) =>
      row.errors.includes(code) ||
      !(
        (row.method === 'GET' && postOnly.includes(code)) ||
        (code === 'insufficient_scope' && row.scopes.length === 0)
      );
    const codes = [...new Set<ErrorCode>([...commonErrors, ...row.errors])].filter(isPossible);
    const byStatus = Map.groupBy(codes, (code) => errors[code].status);
    const entries: [number, Json][] = [...byStatus].map(([status, of]) => [
      status,
      this.#add(of.map(pascalCase).join('Or'), inWords(of), headers[status]),
    ]);
    const { tooSlow, wrongHost } = otherStatuses;
    for (const { status, name, when } of [wrongHost, ...(fileField(row.input) === undefined ? [] : [tooSlow])])
      entries.push([status, this.#add(name, `\`invalid_request\`: ${when}`)]);
    return Object.fromEntries(entries.sort(([a], [b]) => a - b));
  }

  #add(name: string, description: string, headersOf?: Json): Json {
    this.byName[name] = {
      description,
      ...(headersOf && { headers: headersOf }),
      content: { 'application/json': { schema: reference('Error') } },
    };
    return { $ref: `#/components/responses/${name}` };
  }
}

const inWords = (codes: readonly ErrorCode[]): string =>
  codes.map((code) => `\`${code}\`: ${errors[code].when}`).join('\n\n');
