import { untilAborted } from './retry.ts';

/**
 * An access token, or a function that returns one. The client calls the function before every attempt, so that it can replace
 * a token that is about to expire. After a 401 the client calls it again with the refused token and repeats the call if it
 * returns another one. An error that the function throws becomes the error of the call.
 */
export type TokenSource = string | ((refused?: string) => string | Promise<string>);

/** Returns the token to send. Rejects with the signal's reason as soon as it is aborted. */
export async function getToken(
  source: TokenSource,
  signal: AbortSignal | undefined,
  refused?: string,
): Promise<string> {
  if (typeof source === 'string') return source;
  signal?.throwIfAborted();
  return checkToken(await untilAborted(Promise.resolve(source(refused)), signal));
}

/** Returns a token that is valid in a header. The error does not repeat an invalid one: it may be half a secret. */
export function checkToken(given: string): string {
  if (typeof given === 'string' && /^[\x21-\x7e]+$/.test(given)) return given;
  throw new TypeError('The access token must be printable ASCII characters without spaces.');
}
