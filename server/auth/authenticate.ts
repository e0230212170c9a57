import { ParleyError, type TokenId, type UserId } from '@parley/contract';
import { LRUCache } from 'lru-cache';
import type { TokenUse } from '../store/access/token-use.ts';
import { findTokenByHash } from '../store/access/tokens.ts';
import type { Db } from '../store/engine/engine.ts';
import { hashToken, parseScopes } from './access-token.ts';
import type { Caller } from './caller.ts';

/** A revocation by another process takes effect within this time, and one by this process at once. */
const trustMs = 2_000;

const maxCached = 10_000;

/** An access token, or the session of a browser. */
export interface Credential {
  readonly secret: string;
  readonly isSession: boolean;
}

/** Returns the callers of tokens and sessions. */
export class Authenticator {
  readonly #db: Db;
  readonly #now: () => number;
  /**
   * The key is the secret itself: hashing it for every request costs more than the lookup saves. Unknown secrets are not
   * cached. Measured: 110-190 ns per lookup, 0.1 µs more than a Map that is emptied when it is full.
   */
  readonly #cache = new LRUCache<string, { readonly caller: Caller; readonly trustedUntil: number }>({
    max: maxCached,
  });
  #uses = new Map<TokenId, { at: number; requests: number }>();
  #revocations = 0;

  constructor(db: Db, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /**
   * Returns the caller, at once if it is cached. Throws `unauthorized` for an unknown or expired secret. Calls `gate`, which
   * may throw, before it looks up a secret that is not in the cache.
   */
  authenticate({ secret, isSession }: Credential, gate: () => void): Caller | Promise<Caller> {
    const cached = this.#cache.get(secret);
    if (!cached) gate();
    const now = this.#now();
    if (!cached || cached.trustedUntil <= now) return this.#load(secret, isSession);
    if (!isUsable(cached.caller, isSession, now)) throw unusable();
    this.#count(cached.caller.tokenId, now);
    return cached.caller;
  }

  async #load(secret: string, isSession: boolean): Promise<Caller> {
    const revocations = this.#revocations;
    const row = await findTokenByHash(this.#db, hashToken(secret));
    const now = this.#now();
    const caller = row && {
      userId: row.user_id,
      ownerId: row.owner_id,
      tokenId: row.token_id,
      kind: row.kind,
      appId: row.app_id,
      isAdmin: row.is_admin,
      scopes: parseScopes(row.scopes),
      createdAt: row.created_at,
      expiresAt: row.expires_at,
    };
    if (!caller || !isUsable(caller, isSession, now)) {
      this.#cache.delete(secret);
      throw unusable();
    }
    // A row that was read during a revocation may be the one before it.
    if (revocations === this.#revocations) this.#cache.set(secret, { caller, trustedUntil: now + trustMs });
    this.#count(caller.tokenId, now);
    return caller;
  }

  #count(tokenId: TokenId, at: number): void {
    const use = this.#uses.get(tokenId);
    if (use) {
      use.at = at;
      use.requests++;
    } else this.#uses.set(tokenId, { at, requests: 1 });
  }

  /** Must be called after the commit that ends some access of these users. */
  forget(userIds: readonly UserId[]): void {
    this.#revocations++;
    for (const [secret, { caller }] of [...this.#cache.entries()]) {
      if (userIds.includes(caller.userId)) this.#cache.delete(secret);
    }
  }

  /** Returns the uses of each token since the previous call. */
  takeUses(): TokenUse[] {
    const uses = [...this.#uses].map(([token_id, use]) => ({ token_id, ...use }));
    this.#uses = new Map();
    return uses;
  }
}

/** Returns the access token in an Authorization header. */
export function bearer(authorization: string | null): string {
  if (authorization === null) {
    throw new ParleyError('unauthorized', 'Send an access token: Authorization: Bearer <token>');
  }
  const match = /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization);
  if (!match?.[1]) throw new ParleyError('unauthorized', 'The Authorization header must read: Bearer <token>');
  return match[1];
}

/** A session works only as a cookie, and a token only as a token. */
const isUsable = ({ kind, expiresAt }: Caller, isSession: boolean, now: number): boolean =>
  (kind === 'session') === isSession && (expiresAt === null || expiresAt > now);

const unusable = () => new ParleyError('unauthorized', 'This access token is unknown, expired or revoked.');
