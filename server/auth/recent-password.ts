import { ParleyError } from '@parley/contract';
import type { Caller } from './caller.ts';

const recentMs = 10 * 60_000;

/** Thrown for an act that needs a recently entered password. Pages ask for the password then. */
export class RecentPasswordNeeded extends ParleyError {
  constructor(page: string) {
    super(
      'forbidden',
      `This needs a browser in which you entered your password in the last ${recentMs / 60_000} minutes. Do it at ${page}.`,
    );
  }
}

/** Returns true for a session that is not older than ten minutes: each one starts with a password. */
export const hasRecentPassword = ({ kind, createdAt }: Caller, now: number): boolean =>
  kind === 'session' && now - createdAt <= recentMs;

/**
 * Guards acts whose effect outlives the credential, such as making an administrator: a stolen token or an unattended
 * browser must not be enough. `page` is where a person can do it.
 */
export function requireRecentPassword(caller: Caller, now: number, page: string): void {
  if (!hasRecentPassword(caller, now)) throw new RecentPasswordNeeded(page);
}
