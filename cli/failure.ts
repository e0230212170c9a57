import { ParleyError } from '@parley/contract';
import { ApiError, TransportError } from '@parley-chat/sdk';

/** Returns the error as one line for the user. */
export function plainLine(error: unknown): string {
  if (error instanceof ApiError) return `${error.message}${trace(error)}`;
  if (error instanceof TransportError) return `${error.message}${advice(error)}`;
  // The cause is the database's own message. Only operators see it here.
  if (error instanceof ParleyError && error.cause instanceof Error) return `${error.message} (${error.cause.message})`;
  return error instanceof Error ? error.message : String(error);
}

/** An internal error is in the server's log under this id. */
const trace = ({ status, requestId }: ApiError) =>
  status >= 500 && requestId !== undefined ? ` (request_id ${requestId})` : '';

const advice = ({ status }: TransportError) =>
  status === undefined ? ' Is the server running? Set its URL with PARLEY_URL or --url.' : '';
