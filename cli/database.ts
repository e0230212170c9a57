import type { Tools } from '@parley/server/auth/administer.ts';
import { readSettings } from '@parley/server/config.ts';
import { openAsGuest } from '@parley/server/store/open.ts';

/** Works straight in the database, beside a server that may be running: no lock, no migration. */
export async function inDatabase<T>(work: (tools: Tools) => Promise<T>): Promise<T> {
  const engine = await openAsGuest(readSettings(process.env));
  try {
    return await work({
      engine,
      now: Date.now,
      random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    });
  } finally {
    await engine.close();
  }
}
