import type { Scope } from '@parley/contract';
import type { Db } from '../../store/engine/engine.ts';
import { responseUrl } from './authorization-response.ts';
import { type Client, findClient, isConfidential } from './client.ts';
import { OAuthFault } from './faults.ts';
import { readParameters, refuseRepeats } from './parameters.ts';
import { challengeIn } from './pkce.ts';
import { allowsRedirect } from './redirects.ts';
import { requireCode } from './response-type.ts';
import { requireScopes } from './scope.ts';
import { requirePrintableState, stateIn } from './state.ts';

/** A valid authorization request. */
export interface AuthorizationRequest {
  readonly client: Client;
  readonly scopes: readonly Scope[];
  /** The URL that the browser returns to. */
  readonly redirect: string;
  /** `redirect_uri` of the request, or ''. The app must send it again with the code. */
  readonly namedRedirect: string;
  readonly challenge: string;
  /** Returns the URL that takes the response to the app. */
  readonly urlFor: (response: Readonly<Record<string, string>>) => string;
}

export type ReadAuthorization =
  | { readonly outcome: 'ask'; readonly request: AuthorizationRequest }
  /** The browser returns to the app with an error. */
  | { readonly outcome: 'redirect'; readonly location: string }
  /** The redirect URL may not be the app's, so a page shows the error instead. */
  | { readonly outcome: 'refused'; readonly message: string };

/** Checks the app and its redirect URL first. Only then can the app be sent any other error. */
export async function readAuthorization(db: Db, params: URLSearchParams, issuer: string): Promise<ReadAuthorization> {
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
    requirePrintableState(read);
    requireCode(values);
    const challenge = challengeIn(values);
    const scopes = requireScopes(values.get('scope'));
    return { outcome: 'ask', request: { client, scopes, redirect, namedRedirect, challenge, urlFor } };
  } catch (error) {
    if (!(error instanceof OAuthFault)) throw error;
    return { outcome: 'redirect', location: urlFor({ error: error.error, error_description: error.description }) };
  }
}

function redirectFor(client: Client, named: string): string | undefined {
  const { redirects } = client;
  if (named === '') return redirects.length === 1 ? redirects[0] : undefined;
  return allowsRedirect(redirects, !isConfidential(client), named) ? named : undefined;
}

const refused = (message: string) => ({ outcome: 'refused', message }) as const;
