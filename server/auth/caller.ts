import { ParleyError, type Scope, type TokenId, type UserId } from '@parley/contract';
import type { TokenKind } from '../store/access/tokens.ts';

/** Who makes a call, and with what rights. */
export interface Caller {
  readonly userId: UserId;
  readonly tokenId: TokenId;
  /** `link`: no token, but a link to a file that was made for them. */
  readonly kind: TokenKind | 'link';
  /** 0: no app, but the user in person. */
  readonly appId: number;
  readonly isAdmin: boolean;
  readonly scopes: ReadonlySet<Scope>;
  /** When its access ends; null: never. */
  readonly expiresAt: number | null;
}

/** Refuses a token that may not do this. The admin scope works for administrators alone, whenever it was given. */
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
