import { createHash } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from './engine.ts';
import { FolderError } from './folder.ts';
import type { Reading } from './snapshot.ts';

const keyBytes = 32;
export const keyFile = (folder: string) => join(folder, 'secret.key');

/** Reads a key as it is written in a setting or a file. */
export function parseKey(text: string): Uint8Array {
  const key = Buffer.from(text.trim(), /^[0-9a-f]{64}$/i.test(text.trim()) ? 'hex' : 'base64');
  if (key.length !== keyBytes)
    throw new Error(`${keyBytes} random bytes in base64, such as openssl rand -base64 32 gives`);
  return key;
}

/** The key that seals secrets: the one given, or the one in the data folder, which is made when it is first needed. */
export function secretKey(
  folder: string,
  given: Uint8Array | undefined,
  random: (bytes: number) => Uint8Array,
): Uint8Array {
  if (given) return given;
  const file = keyFile(folder);
  try {
    return readKey(file) ?? makeKey(file, random);
  } catch (error) {
    throw new FolderError(`Cannot use the key in ${file}: ${(error as Error).message}`);
  }
}

/** The key that a file holds, if there is one. */
export function readKey(file: string): Uint8Array | undefined {
  try {
    return parseKey(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Whole or not at all, also where two processes start at once: the first one's key is everybody's. */
function makeKey(file: string, random: (bytes: number) => Uint8Array): Uint8Array {
  const own = `${file}.${Buffer.from(random(6)).toString('hex')}`;
  writeFileSync(own, `${Buffer.from(random(keyBytes)).toString('base64')}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(own, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(own);
  }
  const key = readKey(file);
  if (!key) throw new Error('it vanished');
  return key;
}

/** What tells a key from others, and nothing of it. */
export const fingerprintOf = (key: Uint8Array): string =>
  createHash('sha256').update('parley secret key').update(key).digest('base64url');

/** The fingerprint of the key that sealed what is in the database; undefined where nothing was sealed yet. */
export async function knownFingerprint(db: Reading): Promise<string | undefined> {
  const [row] = await db.all<{ fingerprint: string }>('SELECT fingerprint FROM secret_keys');
  return row?.fingerprint;
}

/** Refuses a key other than the one that sealed what is in the database. */
export async function claimKey(engine: Engine, key: Uint8Array, folder: string): Promise<void> {
  const fingerprint = fingerprintOf(key);
  const known = await engine.write(async (tx) => {
    await tx.lockKeys(['secret key']);
    await tx.run(
      'INSERT INTO secret_keys (fingerprint) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM secret_keys)',
      fingerprint,
    );
    return tx.get('SELECT fingerprint FROM secret_keys WHERE fingerprint = $1', fingerprint);
  });
  if (known) return;
  throw new FolderError(
    `The secrets in the database were sealed with another key. Set PARLEY_SECRET_KEY to it, or put the file that holds it at ${keyFile(folder)}.`,
  );
}
