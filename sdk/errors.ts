import { type ErrorCode, type ErrorDetail, ParleyError } from '@parley/contract';

export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: readonly ErrorDetail[];
  readonly status: number;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
}

/** Parley's own answer to a call that it did not carry out: `code` tells why, `details` which fields. */
export class ApiError extends ParleyError {
  override readonly name = 'ApiError';
  /** The HTTP status. */
  readonly status: number;
  /** Finds the call in the server's log. */
  readonly requestId: string | undefined;
  /** Seconds that the server asks to wait before the call is made again. */
  readonly retryAfter: number | undefined;

  constructor(refusal: Refusal) {
    super(refusal.code, refusal.message, refusal.details);
    this.status = refusal.status;
    this.requestId = refusal.requestId;
    this.retryAfter = refusal.retryAfter;
  }
}

/**
 * There was no answer, or one that Parley did not write, such as a proxy's page. Whether the call was carried out is
 * not known.
 */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  /** The HTTP status, where something did answer. */
  readonly status: number | undefined;
  /** Seconds that whatever answered asks to wait. */
  readonly retryAfter: number | undefined;

  constructor(
    message: string,
    known: { status?: number | undefined; retryAfter?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, known.cause === undefined ? undefined : { cause: known.cause });
    this.status = known.status;
    this.retryAfter = known.retryAfter;
  }
}

/** What went wrong at the bottom: Node says only "fetch failed" at the top. */
export function innermost(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined
    ? error.message || String((error as { code?: unknown }).code)
    : innermost(error.cause);
}
