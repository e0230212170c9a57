import { ParleyError, type TokenId, type UserId } from '@parley/contract';
import { findTokenByHash } from '../store/access/tokens.ts';
import type { Db } from '../store/engine/engine.ts';
import { hashToken, parseScopes } from './access-token.ts';
import type { Caller } from './caller.ts';

/** A revocation by another process is noticed within this time; one of our own, at once. */
const trustMs = 2_000;

/** More live tokens than this in two seconds, and the oldest are simply looked up again. */
const cacheSize = 10_000;

interface Known {
  readonly caller: Caller;
  readonly until: number;
}

/** What somebody shows to be known: an access token, or the session of a browser. Whether a cookie counts at all is for others to know. */
export interface Credential {
  readonly secret: string;
  readonly isSession: boolean;
}

/** Called before a token that was not seen before is looked up: throws where that is refused. */
type Gate = () => void;

/** Turns bearer tokens and sessions into callers. Unknown ones are never remembered. */
export class Authenticator {
  readonly #db: Db;
  readonly #now: () => number;
  /** By the token itself, in memory only: hashing it anew for every request costs more than the look-up saves. */
  readonly #known = new Map<string, Known>();
  readonly #uses = new Map<TokenId, number>();
  #revocations = 0;

  constructor(db: Db, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /** Who this speaks for. Answers without waiting where it was seen a moment ago. */
  authenticate({ secret, isSession }: Credential, gate: Gate): Caller | Promise<Caller> {
    const known = this.#known.get(secret);
    if (!known) gate();
    const now = this.#now();
    if (known && known.until > now) {
      if (hasExpired(known.caller, now) || (known.caller.kind === 'session') !== isSession) throw expired();
      return known.caller;
    }
    return this.#load(secret, isSession);
  }

  async #load(token: string, asSession: boolean): Promise<Caller> {
    const revocations = this.#revocations;
    const row = await findTokenByHash(this.#db, hashToken(token));
    if (!row || (row.kind === 'session') !== asSession) {
      this.#known.delete(token);
      throw expired();
    }
    const now = this.#now();
    const caller: Caller = {
      userId: row.user_id,
      tokenId: row.token_id,
      kind: row.kind,
      appId: row.app_id,
      isAdmin: row.is_admin,
      scopes: parseScopes(row.scopes),
      expiresAt: row.expires_at,
    };
    if (hasExpired(caller, now)) {
      this.#known.delete(token);
      throw expired();
    }
    if (this.#known.size >= cacheSize) this.#known.clear();
    // What was read while a token was being revoked may be what it was before.
    if (revocations === this.#revocations) this.#known.set(token, { caller, until: now + trustMs });
    this.#uses.set(row.token_id, now);
    return caller;
  }

  /** To be called once it is committed that some access of these users has ended. */
  forget(userIds: readonly UserId[]): void {
    this.#revocations++;
    for (const [token, { caller }] of this.#known) {
      if (userIds.includes(caller.userId)) this.#known.delete(token);
    }
  }

  /** When each token was last seen since the last time this was asked. */
  takeUses(): { token_id: TokenId; at: number }[] {
    const uses = [...this.#uses].map(([token_id, at]) => ({ token_id, at }));
    this.#uses.clear();
    return uses;
  }
}

/** The access token in the header. */
export function bearer(authorization: string | null): string {
  if (authorization === null) {
    throw new ParleyError('unauthorized', 'Send an access token: Authorization: Bearer <token>');
  }
  const match = /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization);
  if (!match?.[1]) throw new ParleyError('unauthorized', 'The Authorization header must read: Bearer <token>');
  return match[1];
}

const hasExpired = ({ expiresAt }: Caller, now: number): boolean => expiresAt !== null && expiresAt <= now;

const expired = () => new ParleyError('unauthorized', 'This access token is unknown, expired or revoked.');
