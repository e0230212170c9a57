import type { Scope } from '@parley/contract';
import type { Db } from '../../store/engine/engine.ts';
import { type Client, findClient, isConfidential } from './client.ts';
import { OAuthFault, quoted } from './faults.ts';
import { type Parameters, type ReadParameters, readParameters, refuseRepeats } from './parameters.ts';
import { allowsRedirect } from './redirects.ts';
import { requireScopes } from './scope.ts';

/** A valid authorization request. */
export interface AuthorizationRequest {
  readonly outcome: 'ask';
  readonly client: Client;
  /** In the order of the contract. */
  readonly scopes: readonly Scope[];
  /** The URL that the browser returns to. It is registered for the app. */
  readonly redirect: string;
  /** `redirect_uri` of the request, or ''. The app must send it again with the code. */
  readonly namedRedirect: string;
  readonly challenge: string;
  /** Returns the URL that takes the response to the app. */
  readonly urlFor: (response: Readonly<Record<string, string>>) => string;
}

export type AuthorizationEnd =
  /** The browser returns to the app with a code or an error. */
  | { readonly outcome: 'redirect'; readonly location: string }
  /** The redirect URL may not be the app's, so a page shows the error instead. */
  | { readonly outcome: 'refused'; readonly message: string };

/** A request with an error that the app may get, at a URL that is registered for it. */
export interface FaultyRequest {
  readonly outcome: 'redirect';
  readonly location: string;
  readonly client: Client;
  readonly redirect: string;
  readonly fault: OAuthFault;
}

export type AuthorizationCheck =
  | AuthorizationRequest
  | FaultyRequest
  | Extract<AuthorizationEnd, { readonly outcome: 'refused' }>;

/** Checks the app and its redirect URL first. Only then can the app be sent any other error. */
export async function readAuthorization(db: Db, params: URLSearchParams, issuer: string): Promise<AuthorizationCheck> {
  const read = readParameters(params);
  const { values, repeated } = read;
  const clientId = values.get('client_id');
  if (clientId === undefined || repeated.has('client_id')) {
    return refused('The link that brought you here names no app.');
  }
  const client = await findClient(db, clientId);
  if (!client) return refused('The app that sent you here is unknown, or was deleted.');
  const namedRedirect = values.get('redirect_uri') ?? '';
  const redirect = repeated.has('redirect_uri') ? undefined : redirectFor(client, namedRedirect);
  if (redirect === undefined) {
    return refused(`${client.name} wants to send you to a URL that is not registered for it.`);
  }
  const state = stateIn(read);
  const urlFor: AuthorizationRequest['urlFor'] = (fields) => responseUrl(redirect, issuer, state, fields);
  try {
    refuseRepeats(read);
    if (state === undefined && values.has('state')) {
      throw new OAuthFault('invalid_request', 'state must not contain control characters.');
    }
    requireCode(values);
    const challenge = challengeIn(values);
    const scopes = requireScopes(values.get('scope'));
    return { outcome: 'ask', client, scopes, redirect, namedRedirect, challenge, urlFor };
  } catch (fault) {
    if (!(fault instanceof OAuthFault)) throw fault;
    const location = urlFor({ error: fault.error, error_description: fault.description });
    return { outcome: 'redirect', location, client, redirect, fault };
  }
}

function redirectFor(client: Client, named: string): string | undefined {
  const { redirects } = client;
  if (named === '') return redirects.length === 1 ? redirects[0] : undefined;
  return allowsRedirect(redirects, !isConfidential(client), named) ? named : undefined;
}

const refused = (message: string) => ({ outcome: 'refused', message }) as const;

/** Returns the state to send back, or undefined if it is absent, repeated, or has control characters. */
function stateIn({ values, repeated }: ReadParameters): string | undefined {
  const state = values.get('state');
  return state !== undefined && !repeated.has('state') && !/\p{Cc}/u.test(state) ? state : undefined;
}

/** Throws unless the response is a code in the query, because a token must not appear in a URL. */
function requireCode(params: Parameters): void {
  const type = params.get('response_type');
  if (type === undefined) throw new OAuthFault('invalid_request', 'response_type is missing. It must be code.');
  if (type !== 'code') {
    throw new OAuthFault('unsupported_response_type', `response_type must be code, not ${quoted(type)}.`);
  }
  if ((params.get('response_mode') ?? 'query') !== 'query') {
    throw new OAuthFault('invalid_request', 'response_mode must be query.');
  }
}

/**
 * Returns the challenge of PKCE (RFC 7636). Every app must send one, because it also protects against injected codes. The
 * RFC's default method is `plain`, which does not protect against an attacker who reads the request.
 */
export function challengeIn(params: Parameters): string {
  const challenge = params.get('code_challenge');
  if (challenge === undefined) {
    throw new OAuthFault('invalid_request', 'code_challenge is missing: every app must use PKCE with S256.');
  }
  if (params.get('code_challenge_method') !== 'S256') {
    throw new OAuthFault('invalid_request', 'code_challenge_method must be S256.');
  }
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge)) {
    const form = 'the SHA-256 of the verifier in base64url without padding: 43 characters';
    throw new OAuthFault('invalid_request', `code_challenge must be ${form}.`);
  }
  return challenge;
}

/**
 * Returns the URL that takes the response to the app. The redirect URL stays as it was registered, its query included: a
 * parser might write it differently from what was compared. `iss` (RFC 9207) keeps an app that uses several servers from
 * sending the code of one to another.
 */
export function responseUrl(
  redirect: string,
  issuer: string,
  state: string | undefined,
  response: Readonly<Record<string, string>>,
): string {
  const query = new URLSearchParams({ ...response, ...(state !== undefined && { state }), iss: issuer });
  return `${redirect}${redirect.includes('?') ? '&' : '?'}${query}`;
}
