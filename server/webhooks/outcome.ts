import type { FailureCause } from '@parley/contract';

/** Why there is no response. */
export type Failure = Exclude<FailureCause, 'status' | 'redirect'>;

/** The outcome of one attempt. A failure of the endpoint is an outcome, not an error of ours. */
export type Outcome =
  | {
      readonly kind: 'responded';
      readonly status: number;
      readonly retryAfterMs: number | undefined;
      /** The start of the response body, without U+0000, which databases refuse. That of a redirect comes after its target. */
      readonly body: string;
      readonly ms: number;
    }
  | {
      readonly kind: 'unreached';
      readonly failure: Failure;
      /** For the owner of the webhook to read. */
      readonly message: string;
      readonly ms: number;
    };

interface Fault {
  readonly failure: Failure;
  readonly message: string;
}

const fault = (failure: Failure, message: string): Fault => ({ failure, message });

const noRoute = fault('unreachable', 'no route to the address');
const reset = fault('reset', 'the connection broke off');
const unknownAuthority = fault('tls', 'the certificate does not come from a known authority');

export const notHttp = fault('not_http', 'the response is not valid HTTP');

/** The error codes of fetch. */
const faults: Readonly<Record<string, Fault>> = {
  ECONNREFUSED: fault('refused', 'connection refused'),
  EHOSTUNREACH: noRoute,
  ENETUNREACH: noRoute,
  EADDRNOTAVAIL: noRoute,
  EINVAL: noRoute,
  ETIMEDOUT: fault('timeout', 'the address does not respond'),
  ECONNRESET: reset,
  ECONNABORTED: reset,
  EPIPE: reset,
  ConnectionClosed: reset,
  EPROTO: fault('tls', 'the TLS handshake failed'),
  CERT_HAS_EXPIRED: fault('tls', 'the certificate has expired'),
  CERT_NOT_YET_VALID: fault('tls', 'the certificate is not valid yet'),
  CERT_REVOKED: fault('tls', 'the certificate was revoked'),
  DEPTH_ZERO_SELF_SIGNED_CERT: fault('tls', 'the certificate is self-signed'),
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  ERR_TLS_CERT_ALTNAME_INVALID: fault('tls', 'the certificate is for another name'),
  Malformed_HTTP_Response: notHttp,
  InvalidHTTPResponse: notHttp,
  InvalidContentLength: notHttp,
  UnrequestedUpgrade: notHttp,
  ResponseHeadersTooLarge: fault('not_http', 'the headers of the response are too large'),
};

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Returns an error of fetch in plain words. The error's own text is not used: it contains the URL, which can hold a secret. */
export function faultOf(error: unknown): Fault {
  const code = codeOf(error);
  const known = faults[code];
  if (known) return known;
  if (/CERT|TLS|SSL|UNABLE_TO/.test(code)) return fault('tls', `the certificate was not accepted (${code})`);
  return fault('other', code === '' ? 'the request failed' : `the request failed (${code})`);
}

/** Returns whether no connection was made: then nothing was sent, and another address may be tried. */
export function hasNoConnection(error: unknown): boolean {
  const known = faults[codeOf(error)];
  return known === noRoute || known?.failure === 'refused';
}

/** Returns `Retry-After`, in seconds or as a date, as milliseconds from now; undefined if it is neither. */
export function readRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const at = /^[A-Z][a-z]+, .+ GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return at >= now ? at - now : undefined;
}
