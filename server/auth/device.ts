import { timingSafeEqual } from 'node:crypto';
import type { UserId } from '@parley/contract';
import type { SignInServices } from './services.ts';

/** The user of a mark. A new password ends the marks of the old one: whoever knew it may have made some. */
interface Owner {
  readonly user_id: UserId;
  readonly password_hash: string | null;
}

/**
 * Returns a mark for the cookie of a browser that has signed in. Its attempts are counted apart, so that an attacker who
 * guesses elsewhere does not lock the owner out.
 */
export function markDevice({ deviceKey, random }: Pick<SignInServices, 'deviceKey' | 'random'>, owner: Owner): string {
  const nonce = Buffer.from(random(12)).toString('base64url');
  return `${nonce}.${sealOf(deviceKey, owner, nonce)}`;
}

/** Returns the name of the device, or undefined if the mark was not made for the user and the password. */
export function readDevice(key: Uint8Array, owner: Owner, mark: string | undefined): string | undefined {
  const [, nonce, seal] = /^([\w-]{16})\.([\w-]{43})$/.exec(mark ?? '') ?? [];
  if (nonce === undefined || seal === undefined) return undefined;
  return timingSafeEqual(Buffer.from(seal), Buffer.from(sealOf(key, owner, nonce))) ? nonce : undefined;
}

const sealOf = (key: Uint8Array, { user_id, password_hash }: Owner, nonce: string): string =>
  new Bun.CryptoHasher('sha256', key).update(`device ${user_id} ${nonce} ${password_hash}`).digest('base64url');
