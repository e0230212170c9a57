import type OAuth2Server from '@node-oauth/oauth2-server';
import { consume, findCode } from '../../store/access/codes.ts';
import { findGrant } from '../../store/access/grants.ts';
import { hashToken, newSecret } from '../access-token.ts';
import { type Exchange, exchangeModel, lockSubject, Replay, type Subject, scopesLeft } from './exchange.ts';
import { OAuthFault } from './faults.ts';
import { asLibraryClient, type Model, notOver } from './library.ts';

/** Exchanges a code for tokens. Every attempt consumes the code, so a verifier cannot be guessed. */
export function codeExchange(exchange: Exchange): Model {
  const { tx, at, client, form } = exchange;
  const model: Model & Partial<OAuth2Server.AuthorizationCodeModel> = {
    ...exchangeModel(exchange),
    generateRefreshToken: async () => newSecret('refresh', exchange.random),
    getAuthorizationCode: async (secret) => {
      const code = await findCode(tx, hashToken(secret));
      const grant = code && (await findGrant(tx, code.grant_id));
      if (!code || grant?.app_id !== client.appId) return undefined;
      const subject = await lockSubject(exchange, grant);
      if (code.used_at === null && code.expires_at <= at) {
        throw new OAuthFault('invalid_grant', 'The authorization code has expired.');
      }
      return {
        authorizationCode: code.hash,
        redirectUri: code.redirect,
        scope: scopesLeft(subject),
        codeChallenge: code.challenge,
        codeChallengeMethod: 'S256',
        expiresAt: notOver,
        client: asLibraryClient(client),
        user: subject,
      };
    },
    revokeAuthorizationCode: async ({ authorizationCode: hash, redirectUri, user }) => {
      if (!(await consume(tx, 'authorization_codes', hash, at))) {
        const description = 'The authorization code was used before. What it gave has been revoked.';
        throw new Replay(exchange, user as Subject, 'code_replayed', description);
      }
      if (redirectUri !== '' && form.get('redirect_uri') !== redirectUri) {
        throw new OAuthFault('invalid_grant', 'redirect_uri must be the one that the code was asked for with.');
      }
      return true;
    },
  };
  return model;
}
