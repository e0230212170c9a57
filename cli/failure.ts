import { ParleyError } from '@parley/contract';
import { ApiError, TransportError } from '@parley/sdk';

/** What went wrong, in one line for whoever typed the command. */
export function plainLine(error: unknown): string {
  if (error instanceof ApiError) return `${error.message}${trace(error)}`;
  if (error instanceof TransportError) return `${error.message}${advice(error)}`;
  // What the database itself said helps an operator, who is the one that reads this.
  if (error instanceof ParleyError && error.cause instanceof Error) return `${error.message} (${error.cause.message})`;
  return error instanceof Error ? error.message : String(error);
}

/** For a fault of the server: where its log tells more. */
const trace = ({ status, requestId }: ApiError) =>
  status >= 500 && requestId !== undefined ? ` (request_id ${requestId})` : '';

const advice = ({ status }: TransportError) =>
  status === undefined ? ' Is the server running? Its address is set with PARLEY_URL or --url.' : '';
