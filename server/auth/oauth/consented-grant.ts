import type { Scope, TokenId, UserId } from '@parley/contract';
import { lockApp } from '../../store/access/apps.ts';
import { type GrantRow, insertGrant } from '../../store/access/grants.ts';
import { findToken, lockTokensOf } from '../../store/access/tokens.ts';
import { findUser } from '../../store/access/users.ts';
import type { Tx } from '../../store/engine/engine.ts';
import { formatScopes } from '../access-token.ts';
import { record } from '../audit.ts';
import { type Client, findClient } from './client.ts';
import { OAuthFault } from './faults.ts';

/** The user who decides. */
export interface Decider {
  readonly userId: UserId;
  readonly isAdmin: boolean;
  /** The session of the decision. It must still be valid when the grant is created. */
  readonly tokenId?: TokenId;
  readonly address: string;
}

/** What the user allows. */
export interface Consent {
  readonly client: Client;
  readonly user: Decider;
  readonly scopes: readonly Scope[];
  readonly at: number;
  /** The grant expires with its code unless the app exchanges it. */
  readonly expiresAt: number;
}

/** Creates a grant. Throws `access_denied` if the app, the user or the session has ended meanwhile. */
export async function insertConsentedGrant(
  tx: Tx,
  { client, user, scopes, at, expiresAt }: Consent,
): Promise<GrantRow> {
  const { userId, tokenId, address } = user;
  const { appId, name } = client;
  await lockApp(tx, appId);
  if (!(await findClient(tx, client.clientId))) throw new OAuthFault('access_denied', 'The app is no longer in use.');
  await lockTokensOf(tx, userId);
  const found = await findUser(tx, userId);
  if (found?.disabled_at !== null) throw new OAuthFault('access_denied', 'The user is disabled.');
  if (tokenId !== undefined && !(await findToken(tx, userId, tokenId))) {
    throw new OAuthFault('access_denied', 'The user has been signed out.');
  }
  await record(tx, at, { userId, appId: 0, address }, 'access_granted', { app_id: appId, name, scopes });
  return insertGrant(tx, {
    user_id: userId,
    app_id: appId,
    scopes: formatScopes(scopes),
    created_at: at,
    expires_at: expiresAt,
  });
}
