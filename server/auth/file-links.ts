import { createHmac, timingSafeEqual } from 'node:crypto';
import { type FileId, ParleyError, type TokenId, type UserId } from '@parley/contract';
import { validTokens } from '../store/access/tokens.ts';
import { findUser } from '../store/access/users.ts';
import type { Db } from '../store/engine/engine.ts';
import type { Caller } from './caller.ts';

const lifetimeMs = 5 * 60_000;

/** The fields of a link: a file, the user who may fetch it, the token that made it, and the end in seconds since 1970. */
interface Link {
  readonly file_id: number;
  readonly user_id: number;
  readonly token_id: number;
  readonly expires: number;
}

export type FileLinks = ReturnType<typeof fileLinks>;

/** Signed links that fetch a file without a token, with the current rights of the user that they were made for. They end with the token that made them. */
export function fileLinks(key: Uint8Array, db: Db, now: () => number) {
  const sign = ({ file_id, user_id, token_id, expires }: Link): Buffer =>
    createHmac('sha256', key).update(`${file_id}.${user_id}.${token_id}.${expires}`).digest();

  function isValid(link: Link, signature: string): boolean {
    const given = Buffer.from(signature, 'base64url');
    const expected = sign(link);
    return given.length === expected.length && timingSafeEqual(given, expected) && link.expires * 1_000 > now();
  }

  return {
    make(fileId: FileId, { userId, tokenId }: Caller): Link & { signature: string } {
      const expires = Math.floor((now() + lifetimeMs) / 1_000);
      const link = { file_id: fileId, user_id: userId, token_id: tokenId, expires };
      return { ...link, signature: sign(link).toString('base64url') };
    },

    /** Returns the user of a link, given the query of its URL. Throws `unauthorized` if it is invalid or expired. */
    async callerOf(query: Iterable<readonly [string, string]>): Promise<Caller> {
      const { file_id, user_id, token_id, expires, signature = '' } = Object.fromEntries(query);
      const link = {
        file_id: Number(file_id),
        user_id: Number(user_id),
        token_id: Number(token_id),
        expires: Number(expires),
      };
      const tokenId = link.token_id as TokenId;
      const isOpen = isValid(link, signature) && (await validTokens(db, [tokenId], now())).has(tokenId);
      const user = isOpen ? await findUser(db, link.user_id as UserId) : undefined;
      if (user?.disabled_at !== null) {
        throw new ParleyError('unauthorized', 'This link to a file is invalid or has expired.');
      }
      return {
        userId: user.user_id,
        ownerId: user.owner_id ?? user.user_id,
        tokenId: 0 as TokenId,
        kind: 'link',
        appId: 0,
        isAdmin: false,
        scopes: new Set(['files']),
        createdAt: link.expires * 1_000 - lifetimeMs,
        expiresAt: link.expires * 1_000,
      };
    },
  };
}
