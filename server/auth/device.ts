import { timingSafeEqual } from 'node:crypto';
import type { UserId } from '@parley/contract';
import type { Random } from './access-token.ts';

/**
 * Returns a mark for the cookie of a browser that has signed in. Its attempts are counted apart, so that an attacker who
 * guesses elsewhere does not lock the owner out.
 */
export function markDevice(key: Uint8Array, userId: UserId, random: Random): string {
  const nonce = Buffer.from(random(12)).toString('base64url');
  return `${nonce}.${sealOf(key, userId, nonce)}`;
}

/** Returns the name of the device, or undefined if the mark was not made for the user. */
export function readDevice(key: Uint8Array, userId: UserId, mark: string | undefined): string | undefined {
  const [, nonce, seal] = /^([\w-]{16})\.([\w-]{43})$/.exec(mark ?? '') ?? [];
  if (nonce === undefined || seal === undefined) return undefined;
  return timingSafeEqual(Buffer.from(seal), Buffer.from(sealOf(key, userId, nonce))) ? nonce : undefined;
}

const sealOf = (key: Uint8Array, userId: UserId, nonce: string): string =>
  new Bun.CryptoHasher('sha256', key).update(`device ${userId} ${nonce}`).digest('base64url');
