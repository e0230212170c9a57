/** Every error code, its HTTP status, and its cause. */
export const errors = {
  invalid_request: { status: 400, when: 'The request could not be read: broken JSON, a broken form, a bad header.' },
  unauthorized: { status: 401, when: 'No access token, or one that is unknown, expired or revoked.' },
  insufficient_scope: { status: 403, when: 'The access token lacks the scope that the operation needs.' },
  forbidden: { status: 403, when: 'You can see the thing, but your role does not allow the change.' },
  not_found: { status: 404, when: 'It does not exist, or you may not see it: the response is the same.' },
  unknown_action: { status: 404, when: 'The resource has no such action.' },
  method_not_allowed: { status: 405, when: 'The action takes the other HTTP method; `Allow` names it.' },
  conflict: { status: 409, when: 'The change conflicts with the current state.' },
  idempotency_conflict: { status: 409, when: 'The Idempotency-Key was used before with another input.' },
  cursor_expired: {
    status: 410,
    when: 'Events after the cursor are deleted, or the cursor belongs to another log. Load the state and start without a cursor; 0 reads all events that are kept.',
  },
  payload_too_large: { status: 413, when: 'The body is larger than the limit.' },
  unsupported_media_type: { status: 415, when: 'The body is neither JSON nor a form.' },
  validation_failed: { status: 422, when: 'A field is missing, unknown or out of bounds; `details` names each.' },
  rate_limited: { status: 429, when: 'Too many requests; `Retry-After` says how many seconds to wait.' },
  internal: { status: 500, when: 'An error of the server. Its log has the cause under the `request_id`.' },
  unavailable: { status: 503, when: 'The service is unavailable at the moment; retry after `Retry-After`.' },
} as const;

export type ErrorCode = keyof typeof errors;

export interface ErrorDetail {
  readonly field: string;
  readonly message: string;
}

/** Any operation may fail with these. Its row names only further codes. */
export const commonErrors = [
  'invalid_request',
  'unauthorized',
  'insufficient_scope',
  'payload_too_large',
  'unsupported_media_type',
  'validation_failed',
  'rate_limited',
  'internal',
  'unavailable',
] as const satisfies readonly ErrorCode[];

/** An error for the caller. `message` and `details` are sent as they are. `cause` is only logged. */
export class ParleyError extends Error {
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];

  constructor(code: ErrorCode, message: string, details: readonly ErrorDetail[] = [], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ParleyError';
    this.code = code;
    this.details = details;
  }
}

/** Returns a `validation_failed` about one field. */
export function invalidField(field: string, message: string): ParleyError {
  return new ParleyError('validation_failed', `${field}: ${message}`, [{ field, message }]);
}
