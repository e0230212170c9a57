import type { Tools } from '../auth/administer.ts';
import { Passwords } from '../auth/passwords.ts';
import type { Settings } from '../config.ts';
import { openAsGuest } from '../store/engine/open.ts';

/** Opens the database beside its server, for the command line. The caller closes `engine`. */
export async function openTools(settings: Settings): Promise<Tools> {
  return {
    engine: await openAsGuest(settings),
    now: Date.now,
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    passwords: new Passwords(settings.passwordCost),
  };
}
