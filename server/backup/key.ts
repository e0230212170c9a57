import { fingerprintOf, keyFile, parseKey, readKey } from '../store/data-folder/secret-key.ts';
import { BackupError, damaged } from './failure.ts';
import type { Manifest } from './manifest.ts';

/** The two sources of the key: a setting and the data folder. */
export interface KeySources {
  readonly given: Uint8Array | undefined;
  readonly folder: string;
}

/**
 * Returns the key to include in a backup. The operator keeps a key that is a setting. Throws `BackupError` if the key that
 * encrypted the secrets is not available: a backup would be useless without it.
 */
export function keyToInclude({ given, folder }: KeySources, fingerprint: string | undefined): Uint8Array | undefined {
  const own = given ?? readKey(keyFile(folder));
  if (fingerprint !== undefined && (!own || fingerprintOf(own) !== fingerprint)) {
    const where = given ? 'PARLEY_SECRET_KEY' : keyFile(folder);
    const problem = own ? `${where} is not the key` : `There is no ${where}. It is the key`;
    throw new BackupError(
      `${problem} that encrypted the secrets of this server. Set PARLEY_DATA and PARLEY_SECRET_KEY as they are set for the server.`,
    );
  }
  return given ? undefined : own;
}

/** Throws `BackupError` if the secrets of a backup could not be decrypted after the restore. */
export function requireKey({ key }: Manifest, { given, folder }: KeySources): void {
  if (key.fingerprint === null) return;
  const own = given ?? readKey(keyFile(folder));
  if (own ? fingerprintOf(own) === key.fingerprint : key.included) return;
  const what = 'The secrets in the backup were encrypted with';
  if (!own)
    throw new BackupError(`${what} a key that is not in it. Set PARLEY_SECRET_KEY to the key of the original server.`);
  throw new BackupError(
    given
      ? `${what} another key than PARLEY_SECRET_KEY. ${key.included ? 'Unset it: the key is in the backup.' : 'Set it to the key of the original server.'}`
      : `${what} another key than ${keyFile(folder)} holds. Restore into an empty folder, or set PARLEY_SECRET_KEY to the right key.`,
  );
}

/** Returns the key of a backup to write into a file, or undefined if the server has one already. */
export function keyToWrite(text: string, manifest: Manifest, { given, folder }: KeySources): string | undefined {
  if (fingerprintOf(parseKey(text)) !== manifest.key.fingerprint) throw damaged('its key does not match its manifest');
  return given || readKey(keyFile(folder)) ? undefined : text;
}
