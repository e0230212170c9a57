import OAuth2Server from '@node-oauth/oauth2-server';
import { type Client, isConfidential } from './client.ts';
import { isFaultCode, OAuthFault } from './faults.ts';

export type Model = OAuth2Server.ExtensionModel;

/** A date for the library, which compares it with its own clock. Our clock has checked the real one. */
export const notOver = new Date(8.64e15);

export const grantTypes = ['authorization_code', 'refresh_token', 'client_credentials'] as const;
export type GrantType = (typeof grantTypes)[number];

export const asLibraryClient = (client: Client): OAuth2Server.Client => ({
  id: client.clientId,
  redirectUris: [...client.redirects],
  grants: grantTypes.filter((type) => type !== 'client_credentials' || isConfidential(client)),
});

/** Builds a request from parameters that are checked already. */
export function libraryRequest(body: Readonly<Record<string, string>>): OAuth2Server.Request {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '1' };
  return new OAuth2Server.Request({ method: 'POST', headers, query: {}, body });
}

/** Returns an error of the library or of ours as an `OAuthFault`. Rethrows any other. */
export function asFault(thrown: unknown): OAuthFault {
  const cause = causeOf(thrown);
  if (cause instanceof OAuthFault) return cause;
  if (cause instanceof OAuth2Server.OAuthError && isFaultCode(cause.name)) {
    return new OAuthFault(cause.name, inPlainWords(cause.message));
  }
  throw cause;
}

/** Unwraps an error that our side of the model threw. */
function causeOf(thrown: unknown): unknown {
  const wrapped = thrown instanceof OAuth2Server.ServerError && 'inner' in thrown && thrown.inner;
  return wrapped || thrown;
}

/** Rewrites messages such as: Invalid grant: `redirect_uri` is not a valid URI. */
function inPlainWords(message: string): string {
  const bare = message.replaceAll('`', '').replaceAll('"', "'");
  const [, what, name] = /^(Missing|Invalid) parameter: (\w+)$/.exec(bare) ?? [];
  if (name !== undefined) return `${name} is ${what === 'Missing' ? 'missing' : 'not valid'}.`;
  const text = bare.replace(/^[A-Z][a-z ]+: /, '');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
