/** Throws for a text that is not a key, because keys become names of files and objects. */
export function checkKey(key: string): string {
  if (!/^[A-Za-z0-9_-]{16,64}$/.test(key)) throw new Error('not a key of a blob');
  return key;
}

/** Returns a random key. */
export const newKey = (random: (bytes: number) => Uint8Array): string => Buffer.from(random(18)).toString('base64url');
