/** Keys become names of files and objects as they are, so nothing else is let through. */
export function checkKey(key: string): string {
  if (!/^[A-Za-z0-9_-]{16,64}$/.test(key)) throw new Error('not a key of a blob');
  return key;
}

/** One that nobody can guess, and nobody has. */
export const newKey = (random: (bytes: number) => Uint8Array): string => Buffer.from(random(18)).toString('base64url');
