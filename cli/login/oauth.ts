import { TransportError } from '@parley-chat/sdk';
import { parseObject } from '@parley-chat/sdk/response.ts';
import * as oauth from 'oauth4webapi';
import type { Clock } from '../context.ts';
import { responseTimeout } from '../timeout.ts';
import type { Credentials } from './credentials.ts';

/** The app of the command line, which every database has. */
export const client: oauth.Client = { client_id: 'parley-cli' };

export interface Target {
  readonly server: string;
  readonly clock: Clock;
}

export type Tokens = Pick<Credentials, 'access_token' | 'expires_at' | 'refresh_token' | 'scopes'>;

/** The server refused a request with an OAuth error code. */
export class OAuthRefusal extends Error {
  readonly code: string;

  constructor(code: string, description: string | undefined) {
    super(`The server refused: ${code}${description === undefined ? '' : ` (${description})`}.`);
    this.code = code;
  }
}

/** Returns the metadata of the server (RFC 8414). Throws if the server is not Parley or uses another URL. */
export async function discover(target: Target): Promise<oauth.AuthorizationServer> {
  const { server } = target;
  const response = await oauth.discoveryRequest(new URL(server), { algorithm: 'oauth2', ...optionsFor(target) });
  const metadata = await oauth.processDiscoveryResponse(new URL(server), response).catch((error) => {
    if (error.code === oauth.JSON_ATTRIBUTE_COMPARISON) {
      throw new Error(`The server at ${server} uses another URL. Use it: --url ${error.cause.body.issuer}`);
    }
    throw new Error(`You cannot sign in to ${server}: it is not Parley or too old. Use an access token: PARLEY_TOKEN`);
  });
  for (const name of ['authorization_endpoint', 'token_endpoint', 'revocation_endpoint'] as const) {
    requireOwn(server, name, metadata[name]);
  }
  return metadata;
}

/** Throws unless the URL is on the server: the browser opens it, or it receives secrets. */
function requireOwn(server: string, name: string, url = ''): void {
  if (URL.canParse(url) && new URL(url).origin === new URL(server).origin) return;
  throw new Error(`The server at ${server} names no ${name} on the same origin.`);
}

/** Returns whether the server lets devices without a browser sign in. */
export const hasDeviceCodes = (metadata: oauth.AuthorizationServer): boolean =>
  metadata.device_authorization_endpoint !== undefined;

/** Requests the codes of a device (RFC 8628). */
export async function startDevice(
  target: Target,
  metadata: oauth.AuthorizationServer,
  scopes: readonly string[],
): Promise<oauth.DeviceAuthorizationResponse> {
  const { server } = target;
  requireOwn(server, 'device_authorization_endpoint', metadata.device_authorization_endpoint);
  const started = await exchange(target, async (options) => {
    const request = [metadata, client, oauth.None(), { scope: scopes.join(' ') }, options] as const;
    const response = await oauth.deviceAuthorizationRequest(...request);
    return oauth.processDeviceAuthorizationResponse(metadata, client, response);
  });
  requireOwn(server, 'verification_uri', started.verification_uri);
  return started;
}

/** Exchanges the code of a device for tokens. Throws `OAuthRefusal` until the user has allowed it. */
export function redeemDevice(
  target: Target,
  metadata: oauth.AuthorizationServer,
  deviceCode: string,
  scopes: readonly string[],
): Promise<Tokens> {
  return exchange(target, async (options) => {
    const response = await oauth.deviceCodeGrantRequest(metadata, client, oauth.None(), deviceCode, options);
    return tokensFrom(await oauth.processDeviceCodeResponse(metadata, client, response), { scopes });
  });
}

/** Exchanges the code in a validated authorization response for tokens. */
export function redeemCode(
  target: Target,
  metadata: oauth.AuthorizationServer,
  code: { readonly params: URLSearchParams; readonly redirect: string; readonly verifier: string },
  scopes: readonly string[],
): Promise<Tokens> {
  return exchange(target, async (options) => {
    const { params, redirect, verifier } = code;
    const request = [metadata, client, oauth.None(), params, redirect, verifier, options] as const;
    const response = await oauth.authorizationCodeGrantRequest(...request);
    return tokensFrom(await oauth.processAuthorizationCodeResponse(metadata, client, response), { scopes });
  });
}

/** Exchanges the refresh token for new tokens. */
export function refresh(target: Target, metadata: oauth.AuthorizationServer, before: Credentials): Promise<Tokens> {
  return exchange(target, async (options) => {
    const request = [metadata, client, oauth.None(), before.refresh_token, options] as const;
    const response = await oauth.refreshTokenGrantRequest(...request);
    return tokensFrom(await oauth.processRefreshTokenResponse(metadata, client, response), before);
  });
}

/** Revokes the grant of a refresh token (RFC 7009). */
export async function revoke(target: Target, refreshToken: string): Promise<void> {
  const metadata = await discover(target);
  await exchange(target, async (options) => {
    const hint = { additionalParameters: { token_type_hint: 'refresh_token' } };
    const request = [metadata, client, oauth.None(), refreshToken, { ...options, ...hint }] as const;
    await oauth.processRevocationResponse(await oauth.revocationRequest(...request));
  });
}

/** Returns the tokens of a response. Scopes and the refresh token stay the same if it has none. */
function tokensFrom(
  { access_token, token_type, expires_in, refresh_token, scope }: oauth.TokenEndpointResponse,
  before: Pick<Tokens, 'scopes'> & Partial<Tokens>,
): Tokens {
  const next = refresh_token ?? before.refresh_token;
  if (token_type !== 'bearer' || expires_in === undefined || next === undefined) {
    throw new Error('it lacks a bearer token, its lifetime or a refresh token');
  }
  const expires_at = Math.floor(Date.now() + expires_in * 1_000);
  return { access_token, expires_at, refresh_token: next, scopes: scope?.split(' ').filter(Boolean) ?? before.scopes };
}

/** Runs an exchange. Throws `OAuthRefusal`, or `TransportError` if the response is missing or invalid. */
async function exchange<T>(target: Target, work: (options: ReturnType<typeof optionsFor>) => Promise<T>): Promise<T> {
  try {
    return await work(optionsFor(target));
  } catch (error) {
    if (error instanceof TransportError) throw error;
    if (error instanceof oauth.ResponseBodyError) throw new OAuthRefusal(error.error, error.error_description);
    const { message, cause } = error as Error;
    const status = cause instanceof Response ? cause.status : 200;
    throw new TransportError(`${target.server} sent an invalid OAuth response: ${message}.`, { status, cause: error });
  }
}

type Init = oauth.CustomFetchOptions<'GET' | 'POST', URLSearchParams | undefined>;

const optionsFor = (target: Target) => ({
  // A server without TLS is the user's choice, as in every other command.
  [oauth.allowInsecureRequests]: true,
  [oauth.customFetch]: (url: string, init: Init) => fetchWhole(target, url, init),
});

/** Returns a response with its whole body. Throws `TransportError` if it is late, a redirect or a temporary failure. */
async function fetchWhole({ server, clock }: Target, url: string, init: Init): Promise<Response> {
  using late = responseTimeout(clock);
  const response = await fetch(url, { ...init, body: init.body ?? null, signal: late.signal })
    .then(async (streamed) => new Response((await streamed.text()) || null, streamed))
    .catch((cause: Error) => {
      throw new TransportError(`Cannot reach Parley at ${server}: ${cause.message}`, { cause });
    });
  const { status } = response;
  if (status < 300 || (status >= 400 && status < 500 && status !== 429)) return response;
  const reason = parseObject(await response.text())?.error_description;
  const why = typeof reason === 'string' && reason !== '' ? `: ${reason}` : '.';
  throw new TransportError(`The server at ${server} responded with HTTP ${status}${why}`, { status });
}
