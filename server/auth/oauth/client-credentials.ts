import type OAuth2Server from '@node-oauth/oauth2-server';
import { botScopes, type Scope, type UserId } from '@parley/contract';
import { lockApp } from '../../store/access/apps.ts';
import { findStandingGrant, type GrantRow, insertGrant } from '../../store/access/grants.ts';
import { lockTokensOf } from '../../store/access/tokens.ts';
import { findUser } from '../../store/access/users.ts';
import { formatScopes } from '../access-token.ts';
import { record } from '../audit.ts';
import { findClient } from './client.ts';
import { type Exchange, exchangeModel } from './exchange.ts';
import { OAuthFault } from './faults.ts';
import type { Model } from './library.ts';
import { readScopes } from './scope.ts';

/** An app acts as its bot. It gets no refresh token, because it can get a new access token at any time. */
export function clientCredentials(exchange: Exchange): Model {
  const model: Model & Partial<OAuth2Server.ClientCredentialsModel> = {
    ...exchangeModel(exchange),
    getUserFromClient: () => lockBot(exchange),
    validateScope: async () => {
      const asked = exchange.form.get('scope');
      const scopes = asked === undefined ? botScopes : readScopes(asked);
      const refused = scopes.find((scope) => !(botScopes as readonly Scope[]).includes(scope));
      if (refused) throw new OAuthFault('invalid_scope', `An app cannot have the scope ${refused} as its bot.`);
      return [...scopes];
    },
  };
  return model;
}

async function lockBot(exchange: Exchange) {
  const { tx, client } = exchange;
  await lockApp(tx, client.appId);
  if (!(await findClient(tx, client.clientId))) {
    throw new OAuthFault('invalid_client', 'The app is no longer in use.');
  }
  if (client.botId === null) throw new OAuthFault('unauthorized_client', 'This app has no bot to act as.');
  await lockTokensOf(tx, client.botId);
  const user = await findUser(tx, client.botId);
  if (user?.disabled_at !== null) throw new OAuthFault('invalid_grant', 'The bot of this app is disabled.');
  return { user, grant: await standingGrant(exchange, client.botId) };
}

/** Returns the one grant of all tokens of the bot's app. They end with it. */
async function standingGrant({ tx, at, client, address }: Exchange, userId: UserId): Promise<GrantRow> {
  const known = await findStandingGrant(tx, userId, client.appId);
  if (known) return known;
  const { appId, name } = client;
  const scopes = formatScopes(botScopes);
  const details = { app_id: appId, name, scopes: botScopes };
  await record(tx, at, { userId, appId, address }, 'access_granted', details);
  return insertGrant(tx, { user_id: userId, app_id: appId, scopes, created_at: at, expires_at: null });
}
