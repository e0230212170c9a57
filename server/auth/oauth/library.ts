import type OAuth2Server from '@node-oauth/oauth2-server';
import { type Client, isConfidential } from './client.ts';
import { isFaultCode, OAuthFault } from './faults.ts';

export type Model = OAuth2Server.ExtensionModel;
export type Library = typeof OAuth2Server;

/** Loads the library at the first request that needs it: it takes 7 MB, and many servers never get such a request. */
export const loadLibrary = async (): Promise<Library> => (await import('@node-oauth/oauth2-server')).default;

/** A date for the library, which compares it with its own clock. Our clock has checked the real one. */
export const notOver = new Date(8.64e15);

const libraryTypes = ['authorization_code', 'refresh_token', 'client_credentials'] as const;
/** The types that the library knows. */
export type LibraryType = (typeof libraryTypes)[number];

export const deviceCodeType = 'urn:ietf:params:oauth:grant-type:device_code';
export const grantTypes = [...libraryTypes, deviceCodeType] as const;
export type GrantType = (typeof grantTypes)[number];

export const asLibraryClient = (client: Client): OAuth2Server.Client => ({
  id: client.clientId,
  redirectUris: [...client.redirects],
  grants: libraryTypes.filter((type) => type !== 'client_credentials' || isConfidential(client)),
});

/** Builds a request from parameters that are checked already. */
export function libraryRequest(library: Library, body: Readonly<Record<string, string>>): OAuth2Server.Request {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '1' };
  return new library.Request({ method: 'POST', headers, query: {}, body });
}

/** Returns an error of the library or of ours as an `OAuthFault`. Rethrows any other. */
export function asFault(library: Library, thrown: unknown): OAuthFault {
  const cause = causeOf(library, thrown);
  if (cause instanceof OAuthFault) return cause;
  if (cause instanceof library.OAuthError && isFaultCode(cause.name)) {
    return new OAuthFault(cause.name, inPlainWords(cause.message));
  }
  throw cause;
}

/** Unwraps an error that our side of the model threw. */
function causeOf(library: Library, thrown: unknown): unknown {
  const wrapped = thrown instanceof library.ServerError && 'inner' in thrown && thrown.inner;
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
