import type OAuth2Server from '@node-oauth/oauth2-server';
import { consume } from '../../store/access/codes.ts';
import { type DeviceCodeRow, findDeviceCode, notePoll } from '../../store/access/device-codes.ts';
import { findGrant } from '../../store/access/grants.ts';
import { hashToken, newSecret } from '../access-token.ts';
import { type Exchange, lockSubject, Replay, saveTokens, scopesLeft } from './exchange.ts';
import { OAuthFault } from './faults.ts';
import { asLibraryClient } from './library.ts';
import { pollMs } from './lifetimes.ts';

/** Exchanges the code of a device for tokens, once a user has allowed it (RFC 8628, 3.5). The library has no such exchange. */
export async function deviceExchange(exchange: Exchange): Promise<OAuth2Server.Token> {
  const { tx, at, client, form, random } = exchange;
  const secret = form.get('device_code');
  if (secret === undefined) throw new OAuthFault('invalid_request', 'device_code is missing.');
  const code = await findDeviceCode(tx, hashToken(secret));
  if (code?.app_id !== client.appId) {
    throw new OAuthFault('invalid_grant', 'The device code is unknown, or of another app.');
  }
  const grantId = await requireDecision(exchange, code);
  const grant = await findGrant(tx, grantId);
  if (!grant) throw new Error(`device code of grant ${grantId}, which is not there`);
  const subject = await lockSubject(exchange, grant);
  if (!(await consume(tx, 'device_codes', code.hash, at))) {
    const description = 'The device code was used before. What it gave has been revoked.';
    throw new Replay(exchange, subject, 'code_replayed', description);
  }
  const token = {
    accessToken: newSecret('oauth', random),
    refreshToken: newSecret('refresh', random),
    scope: scopesLeft(subject),
  };
  const libraryClient = asLibraryClient(client);
  return saveTokens(exchange, { ...token, client: libraryClient, user: subject }, libraryClient, subject);
}

/** Returns the grant of a code that was allowed. Throws the reason why there is none. */
async function requireDecision({ tx, at }: Exchange, code: DeviceCodeRow): Promise<number> {
  const { hash, polled_at, interval_ms } = code;
  // A used one may come again later, which is a replay.
  if (code.used_at === null && code.expires_at <= at) {
    throw new OAuthFault('expired_token', 'The code has expired. Request a new one.');
  }
  if (code.denied_at !== null) throw new OAuthFault('access_denied', 'The user has not authorized the app.');
  if (code.grant_id !== null) return code.grant_id;
  const isEarly = polled_at !== null && at - polled_at < interval_ms;
  const intervalMs = isEarly ? interval_ms + pollMs : interval_ms;
  await notePoll(tx, hash, at, intervalMs);
  if (isEarly) throw new OAuthFault('slow_down', `Wait at least ${intervalMs / 1_000} seconds between two requests.`);
  throw new OAuthFault('authorization_pending', 'The user has not decided yet.');
}
