import { findRefreshToken } from '../../store/access/codes.ts';
import { findGrant } from '../../store/access/grants.ts';
import { findTokenByHash, revokeToken as revokeAccessToken } from '../../store/access/tokens.ts';
import { hashToken } from '../access-token.ts';
import { record } from '../audit.ts';
import { endGrants } from '../grants.ts';
import type { AccessServices } from '../services.ts';
import type { Client } from './client.ts';
import { authenticateClient } from './client-authentication.ts';
import { OAuthFault } from './faults.ts';
import type { AppCall } from './token.ts';

/**
 * Revokes a token of the app (RFC 7009). The type hint is ignored. An unknown token and another app's give the same empty
 * response, so it reveals nothing.
 */
export async function revokeToken(services: AccessServices, call: AppCall): Promise<object> {
  const client = await authenticateClient(services.engine, call.form, call.authorization);
  const token = call.form.get('token');
  if (token === undefined) throw new OAuthFault('invalid_request', 'token is missing.');
  const hash = hashToken(token);
  if (!(await endGrantOf(services, client, hash, call.address))) {
    await endAccessToken(services, client, hash, call.address);
  }
  return {};
}

/** Ends the grant of a refresh token. Returns false if it is not a refresh token. */
async function endGrantOf(services: AccessServices, client: Client, hash: string, address: string): Promise<boolean> {
  const token = await findRefreshToken(services.engine, hash);
  const grant = token && (await findGrant(services.engine, token.grant_id));
  if (grant?.app_id === client.appId) {
    const userId = grant.user_id;
    await endGrants(services, {
      userId,
      which: { grantId: grant.grant_id },
      actor: { userId, appId: client.appId, address },
      act: 'access_revoked',
      details: { app_id: client.appId, name: client.name },
    });
  }
  return token !== undefined;
}

async function endAccessToken(services: AccessServices, client: Client, hash: string, address: string): Promise<void> {
  const ended = await services.engine.write(async (tx) => {
    const token = await findTokenByHash(tx, hash);
    if (token?.app_id !== client.appId) return undefined;
    const at = services.now();
    await revokeAccessToken(tx, token, at);
    const { token_id, user_id } = token;
    const actor = { userId: user_id, appId: client.appId, address };
    await record(tx, at, actor, 'token_revoked', { token_id, user_id, app_id: client.appId, name: client.name });
    return user_id;
  });
  if (ended !== undefined) await services.ended(ended);
}
