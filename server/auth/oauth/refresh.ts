import type OAuth2Server from '@node-oauth/oauth2-server';
import type { Scope } from '@parley/contract';
import { consume, findRefreshToken } from '../../store/access/codes.ts';
import { findGrant } from '../../store/access/grants.ts';
import { hashToken, newSecret } from '../access-token.ts';
import { type Exchange, exchangeModel, lockSubject, Replay, type Subject, scopesLeft } from './exchange.ts';
import { OAuthFault } from './faults.ts';
import { asLibraryClient, type Model } from './library.ts';
import { readScopes } from './scope.ts';

/** Exchanges a refresh token for new tokens. Each works once. */
export function refresh(exchange: Exchange): Model {
  const { tx, at, client, form } = exchange;
  const model: Model & Partial<OAuth2Server.RefreshTokenModel> = {
    ...exchangeModel(exchange),
    generateRefreshToken: async () => newSecret('refresh', exchange.random),
    getRefreshToken: async (secret) => {
      const token = await findRefreshToken(tx, hashToken(secret));
      const grant = token && (await findGrant(tx, token.grant_id));
      if (!token || grant?.app_id !== client.appId) return undefined;
      const subject = await lockSubject(exchange, grant);
      const scope = scopesLeft(subject);
      // Before the token is consumed, so a request for too many scopes does not cost it.
      if (token.used_at === null) {
        if (token.expires_at <= at) throw new OAuthFault('invalid_grant', 'The refresh token has expired.');
        requireWithin(scope, form.get('scope'));
      }
      return { refreshToken: token.hash, scope, client: asLibraryClient(client), user: subject };
    },
    revokeToken: async ({ refreshToken: hash, user }) => {
      if (await consume(tx, 'refresh_tokens', hash, at)) return true;
      const description = 'The refresh token was used before. The authorization has been revoked.';
      throw new Replay(exchange, user as Subject, 'refresh_token_replayed', description);
    },
  };
  return model;
}

/** Throws if the app requests more than the user granted. It may request less. */
function requireWithin(granted: readonly Scope[], asked: string | undefined): void {
  const missing = asked === undefined ? [] : readScopes(asked).filter((scope) => !granted.includes(scope));
  if (missing.length > 0) throw new OAuthFault('invalid_scope', `The user has not granted ${missing.join(', ')}.`);
}
