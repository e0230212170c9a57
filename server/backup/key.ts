import { fingerprintOf, keyFile, parseKey, readKey } from '../store/secret-key.ts';
import { BackupError, damaged } from './failure.ts';
import type { Manifest } from './manifest.ts';

/** Where a key could come from: a setting, or the data folder. */
export interface KeyPlaces {
  readonly given: Uint8Array | undefined;
  readonly folder: string;
}

/**
 * The key that a backup may hold: one that is a setting is the operator's to keep. Whatever it was that sealed the secrets, it has
 * to be there: who keeps a backup without it finds out when it is too late.
 */
export function keyToKeep({ given, folder }: KeyPlaces, sealedWith: string | undefined): Uint8Array | undefined {
  const own = given ?? readKey(keyFile(folder));
  if (sealedWith !== undefined && (!own || fingerprintOf(own) !== sealedWith)) {
    const where = given ? 'PARLEY_SECRET_KEY' : keyFile(folder);
    const fault = own ? `${where} is not the key` : `There is no ${where}: it is the key`;
    throw new BackupError(
      `${fault} that the secrets of this server were sealed with. Set PARLEY_DATA and PARLEY_SECRET_KEY as they are set for the server.`,
    );
  }
  return given ? undefined : own;
}

/** Refuses a backup whose secrets nobody could open where it is restored. */
export function requireKey({ key }: Manifest, { given, folder }: KeyPlaces): void {
  if (key.fingerprint === null) return;
  const own = given ?? readKey(keyFile(folder));
  if (own ? fingerprintOf(own) === key.fingerprint : key.included) return;
  const what = 'The secrets in the backup were sealed with';
  if (!own)
    throw new BackupError(`${what} a key that is not in it. Set PARLEY_SECRET_KEY to it, as where it was backed up.`);
  throw new BackupError(
    given
      ? `${what} another key than PARLEY_SECRET_KEY. ${key.included ? 'Leave that unset: the key is in the backup.' : 'Set that to the key from where it was backed up.'}`
      : `${what} another key than ${keyFile(folder)} holds. Restore into an empty folder, or set PARLEY_SECRET_KEY to it.`,
  );
}

/** The key of a backup as it is written into a file, or undefined where there is one already. */
export function keyToWrite(text: string, manifest: Manifest, { given, folder }: KeyPlaces): string | undefined {
  if (fingerprintOf(parseKey(text)) !== manifest.key.fingerprint) throw damaged('its key is another one');
  return given || readKey(keyFile(folder)) ? undefined : text;
}
