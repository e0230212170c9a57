import OAuth2Server from '@node-oauth/oauth2-server';
import { type Client, isConfidential } from './client.ts';
import { isFaultCode, OAuthFault } from './faults.ts';

/** What is the same wherever the library is put to use. */

export type Model = OAuth2Server.ExtensionModel;

/** Says of a date that the library compares with its own clock: ours has found that it is not over. */
export const notOver = new Date(8.64e15);

/** What each kind of app may hand in for tokens. */
export const grantTypes = ['authorization_code', 'refresh_token', 'client_credentials'] as const;
export type GrantType = (typeof grantTypes)[number];

export const asLibraryClient = (client: Client): OAuth2Server.Client => ({
  id: client.clientId,
  redirectUris: [...client.redirects],
  grants: grantTypes.filter((type) => type !== 'client_credentials' || isConfidential(client)),
});

/** A request with nothing in it but what has been read and checked. */
export function libraryRequest(body: Readonly<Record<string, string>>): OAuth2Server.Request {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '1' };
  return new OAuth2Server.Request({ method: 'POST', headers, query: {}, body });
}

/** The library's refusals and our own in one form. Whatever else went wrong is thrown as it was. */
export function asFault(thrown: unknown): OAuthFault {
  const cause = causeOf(thrown);
  if (cause instanceof OAuthFault) return cause;
  if (cause instanceof OAuth2Server.OAuthError && isFaultCode(cause.name)) {
    return new OAuthFault(cause.name, inPlainWords(cause.message));
  }
  throw cause;
}

/** What our own side of the model threw, the library has wrapped. */
function causeOf(thrown: unknown): unknown {
  const wrapped = thrown instanceof OAuth2Server.ServerError && 'inner' in thrown && thrown.inner;
  return wrapped || thrown;
}

/** The library says: Invalid grant: `redirect_uri` is not a valid URI. */
function inPlainWords(message: string): string {
  const bare = message.replaceAll('`', '').replaceAll('"', "'");
  const [, what, name] = /^(Missing|Invalid) parameter: (\w+)$/.exec(bare) ?? [];
  if (name !== undefined) return `${name} is ${what === 'Missing' ? 'missing' : 'not valid'}.`;
  const text = bare.replace(/^[A-Z][a-z ]+: /, '');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
