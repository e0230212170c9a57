import { ParleyError, type Scope, type TokenId, type UserId } from '@parley/contract';
import type { TokenKind } from '../store/access/tokens.ts';

/** The authenticated user of a call, and the rights of the credential. */
export interface Caller {
  readonly userId: UserId;
  /** The person behind the user: the owner of a bot, and otherwise the user. Limits count by owner. */
  readonly ownerId: UserId;
  readonly tokenId: TokenId;
  /** `link` is a signed link to a file. */
  readonly kind: TokenKind | 'link';
  /** 0 if no app is involved. */
  readonly appId: number;
  readonly isAdmin: boolean;
  readonly scopes: ReadonlySet<Scope>;
  /** When the credential was created. A session is created with each password that is entered. */
  readonly createdAt: number;
  /** Null if the credential never expires. */
  readonly expiresAt: number | null;
}

/** Throws if the credential lacks a scope. The scope `admin` has an effect only while its user is an administrator. */
export function requireScopes(caller: Caller, scopes: readonly Scope[]): void {
  for (const scope of scopes) {
    if (!caller.scopes.has(scope)) {
      throw new ParleyError('insufficient_scope', `This access token lacks the scope ${scope}.`);
    }
    if (scope === 'admin' && !caller.isAdmin) {
      throw new ParleyError('forbidden', 'Only an administrator may do this.');
    }
  }
}

/** Throws unless a page in a browser calls. */
export function requireBrowser({ kind }: Caller): void {
  if (kind !== 'session') throw new ParleyError('forbidden', 'Only a page in a browser may do this.');
}
