import type { ErrorCode } from './operations.ts';

/** A fault in a field of the input. */
export interface ErrorDetail {
  readonly field: string;
  readonly message: string;
}

export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: readonly ErrorDetail[];
  readonly status: number;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
}

/** Parley refused the call. `code` says why, and `details` names the fields. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];
  /** The HTTP status. */
  readonly status: number;
  /** Identifies the call in the server's log. */
  readonly requestId: string | undefined;
  /** Seconds to wait before a retry, if the server said so. */
  readonly retryAfter: number | undefined;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.code = refusal.code;
    this.details = refusal.details;
    this.status = refusal.status;
    this.requestId = refusal.requestId;
    this.retryAfter = refusal.retryAfter;
  }
}

/** There was no response, or one that Parley did not write, such as a proxy's page. The call may have been carried out. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** Seconds to wait before a retry, if the response said so. */
  readonly retryAfter: number | undefined;

  constructor(
    message: string,
    {
      status,
      retryAfter,
      ...options
    }: { status?: number | undefined; retryAfter?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, options);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** Returns the message of the innermost cause. Node's outer error only says "fetch failed". */
export function innermost(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined
    ? error.message || String((error as { code?: unknown }).code)
    : innermost(error.cause);
}
