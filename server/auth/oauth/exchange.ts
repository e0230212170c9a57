import type OAuth2Server from '@node-oauth/oauth2-server';
import type { Scope } from '@parley/contract';
import { insertRefreshToken } from '../../store/access/codes.ts';
import { extendGrant, type GrantRow } from '../../store/access/grants.ts';
import { insertToken, lockTokensOf, revokeOldTokens } from '../../store/access/tokens.ts';
import { findUser, type UserRow } from '../../store/access/users.ts';
import type { Tx } from '../../store/engine/engine.ts';
import { formatScopes, hashToken, newSecret, parseScopes, type Random, usableBy } from '../access-token.ts';
import type { AuditAct } from '../acts.ts';
import type { GrantEnd } from '../grants.ts';
import type { Client } from './client.ts';
import { OAuthFault } from './faults.ts';
import { asLibraryClient, type Model } from './library.ts';
import { accessTokenMs, maxLiveTokens, refreshTokenMs } from './lifetimes.ts';
import type { Parameters } from './parameters.ts';

/**
 * One request for tokens, in one transaction. A concurrent request with the same code waits until this one has its tokens,
 * and is then found to be a replay.
 */
export interface Exchange {
  readonly tx: Tx;
  readonly at: number;
  readonly random: Random;
  readonly client: Client;
  readonly form: Parameters;
  readonly address: string;
}

/** The user and the grant of new tokens. The library passes it between the steps of the model. */
export interface Subject {
  readonly user: UserRow;
  readonly grant: GrantRow;
}

/** A consumed code or refresh token came again. One of the two senders has stolen it. */
export class Replay extends OAuthFault {
  readonly end: GrantEnd;

  constructor({ client, address }: Exchange, { user, grant }: Subject, act: AuditAct, description: string) {
    super('invalid_grant', description);
    const userId = user.user_id;
    this.end = {
      userId,
      which: { grantId: grant.grant_id },
      actor: { userId: null, appId: client.appId, address },
      act,
      details: { user_id: userId, app_id: client.appId, name: client.name },
    };
  }
}

/** Returns the current user, and locks their tokens until the end of the transaction. */
export async function lockSubject({ tx }: Exchange, grant: GrantRow): Promise<Subject> {
  await lockTokensOf(tx, grant.user_id);
  const user = await findUser(tx, grant.user_id);
  if (!user) throw new Error(`grant ${grant.grant_id} has no user`);
  return { user, grant };
}

/** Returns the scopes of a grant that the user may still use. */
export const scopesLeft = ({ user, grant }: Subject): Scope[] =>
  usableBy({ isAdmin: user.is_admin }, parseScopes(grant.scopes));

/** The part of the model that all exchanges share. */
export const exchangeModel = (exchange: Exchange): Model => ({
  getClient: async () => asLibraryClient(exchange.client),
  generateAccessToken: async () => newSecret('oauth', exchange.random),
  saveToken: (token, client, subject) => saveTokens(exchange, token, client, subject as Subject),
  // Unused: the API authenticates its callers itself.
  getAccessToken: async () => undefined,
});

export async function saveTokens(
  { tx, at, client }: Exchange,
  token: OAuth2Server.Token,
  libraryClient: OAuth2Server.Client,
  subject: Subject,
): Promise<OAuth2Server.Token> {
  const { user, grant } = subject;
  const { accessToken, refreshToken, scope = [] } = token;
  const isStanding = grant.expires_at === null;
  const lives = isStanding || (await extendGrant(tx, grant.grant_id, at, at + refreshTokenMs));
  if (!lives || user.disabled_at !== null) throw new OAuthFault('invalid_grant', 'The authorization has ended.');
  if (scope.length === 0) throw new OAuthFault('invalid_grant', 'Nothing is left of what the user granted.');
  await insertToken(tx, {
    user_id: user.user_id,
    kind: 'oauth',
    parent_id: null,
    app_id: client.appId,
    grant_id: grant.grant_id,
    name: client.name,
    hash: hashToken(accessToken),
    scopes: formatScopes(scope as Scope[]),
    created_at: at,
    expires_at: at + accessTokenMs,
  });
  // Within seconds, like a revocation by another server: the cap bounds the number of tokens, and protects no secret.
  await revokeOldTokens(tx, grant.grant_id, maxLiveTokens, at);
  if (refreshToken !== undefined) {
    await insertRefreshToken(tx, {
      hash: hashToken(refreshToken),
      grant_id: grant.grant_id,
      expires_at: at + refreshTokenMs,
    });
  }
  return {
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    scope,
    client: libraryClient,
    user: subject,
  };
}
