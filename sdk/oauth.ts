import { innermost, TransportError } from './errors.ts';
import { parseServerUrl } from './request.ts';
import { parseObject, parseRetryAfter } from './response.ts';

export interface OAuthTokens {
  readonly accessToken: string;
  /** Works once. */
  readonly refreshToken: string;
  /** When the access token expires, in milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface RefreshOptions {
  /** The server's URL, as in `createClient`. */
  readonly url: string;
  readonly clientId: string;
  /** For an app that runs on a server. */
  readonly clientSecret?: string | undefined;
  /** The saved tokens. The refresh token is enough. */
  readonly tokens: Pick<OAuthTokens, 'refreshToken'> & Partial<OAuthTokens>;
  /**
   * Stores new tokens before they are used. The server revokes the authorization if a refresh token is used twice, so the next
   * start must not use the old one.
   */
  readonly save: (tokens: OAuthTokens) => void | Promise<void>;
  /** Replaces the global `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Returns the time in milliseconds since 1970. Defaults to `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** The server refused to refresh the tokens. After `invalid_grant` the user must authorize the app again. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly code: string;

  constructor(code: string, description: string | undefined) {
    super(description ?? `The server refused the refresh token: ${code}.`);
    this.code = code;
  }
}

/** An access token that expires sooner than this is refreshed before it is used. */
const marginMs = 60_000;

/**
 * Returns a token source for `createClient` that refreshes the access token before it expires and after a 401. Concurrent calls
 * share one refresh. Processes that share a refresh token must take turns themselves.
 */
export function refreshingToken(options: RefreshOptions): (refused?: string) => Promise<string> {
  const { save, now = Date.now } = options;
  const url = parseServerUrl(options.url);
  if (url === undefined) throw new TypeError('The server URL must be like http://127.0.0.1:8080.');
  let tokens: RefreshOptions['tokens'] = options.tokens;
  let unsaved: OAuthTokens | undefined;
  let refreshing: Promise<void> | undefined;

  const refresh = async () => {
    // Tokens that could not be saved are still the newest ones.
    if (!unsaved) {
      unsaved = await requestTokens(`${url}/oauth/token`, tokens.refreshToken, options, now);
      tokens = unsaved;
    }
    await save(unsaved);
    unsaved = undefined;
  };

  return async (refused) => {
    const { accessToken, expiresAt = 0 } = tokens;
    const isUsable = accessToken !== undefined && accessToken !== refused && expiresAt - now() > marginMs;
    if (isUsable && !unsaved) return accessToken;
    refreshing ??= refresh().finally(() => {
      refreshing = undefined;
    });
    await refreshing;
    return tokens.accessToken ?? '';
  };
}

async function requestTokens(
  url: string,
  refreshToken: string,
  { clientId, clientSecret, fetch = (url, init) => globalThis.fetch(url, init) }: RefreshOptions,
  now: () => number,
): Promise<OAuthTokens> {
  const body = new URLSearchParams({ grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken });
  if (clientSecret !== undefined) body.set('client_secret', clientSecret);
  const { response, text } = await post(url, body, fetch);
  const { status } = response;
  const answer = parseObject(text) ?? {};
  const { access_token, refresh_token = refreshToken, expires_in, error, error_description } = answer;
  if (response.ok && typeof access_token === 'string' && typeof refresh_token === 'string') {
    const lifetimeMs = typeof expires_in === 'number' ? expires_in * 1_000 : 0;
    return { accessToken: access_token, refreshToken: refresh_token, expiresAt: now() + lifetimeMs };
  }
  if (typeof error === 'string' && status < 500 && status !== 429) {
    throw new OAuthError(error, typeof error_description === 'string' ? error_description : undefined);
  }
  const retryAfter = parseRetryAfter(response.headers.get('retry-after'));
  throw new TransportError(`${url} sent no tokens: HTTP ${status}.`, { status, retryAfter });
}

async function post(url: string, body: URLSearchParams, fetch: NonNullable<RefreshOptions['fetch']>) {
  try {
    const response = await fetch(url, { method: 'POST', body, redirect: 'manual' });
    return { response, text: await response.text() };
  } catch (error) {
    throw new TransportError(`Cannot reach Parley at ${url}: ${innermost(error)}`, { cause: error });
  }
}
