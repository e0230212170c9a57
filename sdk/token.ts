import { untilAborted } from './retry.ts';

/**
 * An access token, or a function that returns one. The client calls the function before every attempt, so that it can replace
 * a token that is about to expire. After a 401 the client calls it again with the refused token and repeats the call if it
 * returns another one. An error that the function throws becomes the error of the call.
 */
export type TokenSource = string | ((refused?: string) => string | Promise<string>);

/** Returns the token to send, or null if there is none. Rejects with the signal's reason as soon as it is aborted. */
export async function getToken(
  source: TokenSource | null,
  signal: AbortSignal | undefined,
  refused?: string | null,
): Promise<string | null> {
  if (typeof source !== 'function') return source;
  signal?.throwIfAborted();
  return checkToken(await untilAborted(Promise.resolve(source(refused ?? undefined)), signal));
}

/** Returns a token that is valid in a header. The error does not repeat an invalid one: it may be half a secret. */
export function checkToken(given: string): string {
  if (typeof given === 'string' && /^[\x21-\x7e]+$/.test(given)) return given;
  throw new TypeError('The access token must be printable ASCII characters without spaces.');
}

/** Returns the header of a token. Without a token there is none, and the browser's cookie authenticates the call. */
export const authorization = (token: string | null): Readonly<Record<string, string>> =>
  token === null ? {} : { authorization: `Bearer ${token}` };
