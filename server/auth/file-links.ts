import { createHmac, timingSafeEqual } from 'node:crypto';
import { type FileId, ParleyError, type TokenId, type UserId } from '@parley/contract';
import { findUser } from '../store/access/users.ts';
import type { Db } from '../store/engine/engine.ts';
import type { Caller } from './caller.ts';

/** How long a link works. */
const linkMs = 5 * 60_000;

/** What a link says: for whom it fetches which file, and until when, in seconds since 1970. */
interface Link {
  readonly file_id: number;
  readonly user_id: number;
  readonly expires: number;
}

/** Links that fetch a file without a token: as the one whom they were made for, and only what that one still may fetch. */
export class FileLinks {
  readonly #key: Uint8Array;
  readonly #db: Db;
  readonly #now: () => number;

  constructor(key: Uint8Array, db: Db, now: () => number) {
    this.#key = key;
    this.#db = db;
    this.#now = now;
  }

  make(fileId: FileId, userId: UserId): Link & { signature: string } {
    const link = { file_id: fileId, user_id: userId, expires: Math.floor((this.#now() + linkMs) / 1_000) };
    return { ...link, signature: this.#sign(link).toString('base64url') };
  }

  /** Whom a link speaks for, given the fields of its address. */
  async callerOf(fields: Iterable<readonly [string, string]>): Promise<Caller> {
    const { file_id, user_id, expires, signature = '' } = Object.fromEntries(fields);
    const link = { file_id: Number(file_id), user_id: Number(user_id), expires: Number(expires) };
    const user = this.#isValid(link, signature) ? await findUser(this.#db, link.user_id as UserId) : undefined;
    if (!user || user.disabled_at !== null) {
      throw new ParleyError('unauthorized', 'This link to a file is not valid, or its time is over.');
    }
    return {
      userId: user.user_id,
      tokenId: 0 as TokenId,
      kind: 'link',
      appId: 0,
      isAdmin: false,
      scopes: new Set(['files']),
      expiresAt: link.expires * 1_000,
    };
  }

  #isValid(link: Link, signature: string): boolean {
    const given = Buffer.from(signature, 'base64url');
    const expected = this.#sign(link);
    return given.length === expected.length && timingSafeEqual(given, expected) && link.expires * 1_000 > this.#now();
  }

  #sign({ file_id, user_id, expires }: Link): Buffer {
    return createHmac('sha256', this.#key).update(`${file_id}.${user_id}.${expires}`).digest();
  }
}
