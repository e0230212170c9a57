import { ParleyError } from '@parley/contract';

const utf8 = new TextDecoder('utf-8', { fatal: true });

export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw new ParleyError('invalid_request', 'The body is not valid UTF-8.', [], error);
  }
}

export const tooLarge = (limit: number) =>
  new ParleyError('payload_too_large', `The body must be at most ${limit} bytes.`);

/** Wraps the error of an incomplete body. */
export function asUnreadable(error: unknown): ParleyError {
  return error instanceof ParleyError
    ? error
    : new ParleyError('invalid_request', 'The body is incomplete: the connection broke.', [], error);
}

/** Returns the media type without its parameters. */
export const mediaTypeOf = (contentType: string): string => contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
