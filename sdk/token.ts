import { untilAborted } from './retry.ts';

/**
 * An access token, or a function that answers it. The function is asked before every attempt, so that one that expires can
 * be replaced in time, and once more after a 401, with the token that the server refused: if it then answers another, the
 * call, which was not carried out, is made with that. What the function throws is what the call fails with.
 */
export type TokenSource = string | ((refused?: string) => string | Promise<string>);

/** The token to send, or at once the reason of an aborted signal. */
export async function askToken(
  source: TokenSource,
  signal: AbortSignal | undefined,
  refused?: string,
): Promise<string> {
  if (typeof source === 'string') return source;
  signal?.throwIfAborted();
  return checkToken(await untilAborted(Promise.resolve(source(refused)), signal));
}

/** What could not stand in a header is refused here, and without repeating it: it may be half a secret. */
export function checkToken(given: string): string {
  if (typeof given === 'string' && /^[\x21-\x7e]+$/.test(given)) return given;
  throw new TypeError('The access token must be printable ASCII characters without spaces.');
}
