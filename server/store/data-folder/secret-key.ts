import { createHash } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine, Queryable } from '../engine/engine.ts';
import { value } from '../engine/query.ts';
import { FolderError } from './folder.ts';

const keyBytes = 32;
export const keyFile = (folder: string) => join(folder, 'secret.key');

/** Parses a key from a setting or a file. Throws a text that follows "must be". */
export function parseKey(text: string): Uint8Array {
  const key = Buffer.from(text.trim(), /^[0-9a-f]{64}$/i.test(text.trim()) ? 'hex' : 'base64');
  if (key.length !== keyBytes)
    throw new Error(`${keyBytes} random bytes in base64, such as openssl rand -base64 32 gives`);
  return key;
}

/** Returns the key that encrypts secrets: the given one, or the one in the data folder. Creates that one if it is missing. */
export function secretKey(
  folder: string,
  given: Uint8Array | undefined,
  random: (bytes: number) => Uint8Array,
): Uint8Array {
  if (given) return given;
  const file = keyFile(folder);
  try {
    return readKey(file) ?? createKey(file, random);
  } catch (error) {
    throw new FolderError(`Cannot use the key in ${file}: ${(error as Error).message}`);
  }
}

/** Returns undefined if there is no such file. */
export function readKey(file: string): Uint8Array | undefined {
  try {
    return parseKey(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Creates the file atomically. If two processes start together, both use the key of the first. */
function createKey(file: string, random: (bytes: number) => Uint8Array): Uint8Array {
  const temporary = `${file}.${Buffer.from(random(6)).toString('hex')}`;
  writeFileSync(temporary, `${Buffer.from(random(keyBytes)).toString('base64')}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(temporary);
  }
  const key = readKey(file);
  if (!key) throw new Error('the file was deleted');
  return key;
}

/** Identifies a key without revealing it. */
export const fingerprintOf = (key: Uint8Array): string =>
  createHash('sha256').update('parley secret key').update(key).digest('base64url');

/** Returns the fingerprint of the key that encrypted the secrets in the database, or undefined if there are none. */
export const knownFingerprint = (db: Queryable): Promise<string | undefined> =>
  value<string>(db, 'SELECT fingerprint FROM secret_keys');

/** Throws `FolderError` if another key encrypted the secrets in the database. */
export async function claimKey(engine: Engine, key: Uint8Array, folder: string): Promise<void> {
  const fingerprint = fingerprintOf(key);
  const known = await engine.write(async (tx) => {
    await tx.lockKeys(['secret key']);
    await tx.run('INSERT INTO secret_keys (fingerprint) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM secret_keys)', [
      fingerprint,
    ]);
    return tx.get('SELECT fingerprint FROM secret_keys WHERE fingerprint = $1', [fingerprint]);
  });
  if (known) return;
  throw new FolderError(
    `The secrets in the database were encrypted with another key. Set PARLEY_SECRET_KEY to that key, or put its file at ${keyFile(folder)}.`,
  );
}
