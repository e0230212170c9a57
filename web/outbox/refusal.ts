import type { ApiError, ErrorCode } from '@parley-chat/sdk';

/** Why the server does not take a message or a file. */
export interface Refusal {
  readonly code: ErrorCode;
  /** The field of the call that it is about, if it is one. */
  readonly field?: string;
  /** The words of the server. */
  readonly message: string;
}

export const refusalOf = ({ code, message, details: [detail] }: ApiError): Refusal => ({
  code,
  message,
  ...(detail && { field: detail.field }),
});
