import type { Random } from '../access-token.ts';

/** Without vowels there are no words, and no two of these letters look alike (RFC 8628, 6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';
const length = 8;

/** The largest multiple of the number of letters in a byte. Bytes from here on would make some letters more likely. */
const evenBytes = 256 - (256 % letters.length);

/** Returns a code that a person types: 20^8, or 34 bits. The limit of attempts makes up for the rest. */
export function newUserCode(random: Random): string {
  let code = '';
  while (code.length < length) {
    for (const byte of random(length)) {
      if (byte < evenBytes && code.length < length) code += letters[byte % letters.length];
    }
  }
  return code;
}

/** Returns the code as people read it. */
export const formatUserCode = (code: string): string => `${code.slice(0, length / 2)}-${code.slice(length / 2)}`;

/** Reads a typed code, in any case and with any separators. Returns undefined if it cannot be one. */
export function readUserCode(typed: string): string | undefined {
  const code = typed.toUpperCase().replace(/[^A-Z0-9]/g, '');
  return code.length === length && [...code].every((letter) => letters.includes(letter)) ? code : undefined;
}
