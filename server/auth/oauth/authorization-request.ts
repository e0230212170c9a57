import type { Scope } from '@parley/contract';
import type { Db } from '../../store/engine.ts';
import { backToApp } from './authorization-answer.ts';
import { type Client, findClient, isConfidential } from './client.ts';
import { OAuthFault } from './faults.ts';
import { readParameters, refuseRepeats } from './parameters.ts';
import { challengeIn } from './pkce.ts';
import { allowsRedirect } from './redirects.ts';
import { requireCode } from './response-type.ts';
import { requireScopes } from './scope.ts';
import { requirePrintableState, stateIn } from './state.ts';

/** A request for authorization with nothing wrong in it. */
export interface AuthorizationRequest {
  readonly client: Client;
  readonly scopes: readonly Scope[];
  /** Where the app is to be sent back to. */
  readonly redirect: string;
  /** What the request itself named, and the app must name again when it hands in the code; '' where it named nothing. */
  readonly namedRedirect: string;
  readonly challenge: string;
  /** Where the browser goes with an answer. */
  readonly answer: (answer: Readonly<Record<string, string>>) => string;
}

export type ReadAuthorization =
  | { readonly outcome: 'ask'; readonly request: AuthorizationRequest }
  /** The browser is to go back to the app, with what is wrong. */
  | { readonly outcome: 'redirect'; readonly location: string }
  /** It is not known that the address is the app's, so nobody is sent there. A page says why. */
  | { readonly outcome: 'refused'; readonly message: string };

/** First whose request it is and where its answers go; only then can anything else be told to the app. */
export async function readAuthorization(db: Db, params: URLSearchParams, issuer: string): Promise<ReadAuthorization> {
  const read = readParameters(params);
  const { values, repeated } = read;
  const clientId = values.get('client_id');
  if (clientId === undefined || repeated.has('client_id')) {
    return refused('The link that brought you here does not say which app it is for.');
  }
  const client = await findClient(db, clientId);
  if (!client) return refused('The app that sent you here is not known, or is no longer in use.');
  const namedRedirect = values.get('redirect_uri') ?? '';
  const redirect = repeated.has('redirect_uri') ? undefined : redirectFor(client, namedRedirect);
  if (redirect === undefined) {
    return refused(`${client.name} wants to send you to an address that is not registered for it.`);
  }
  const state = stateIn(read);
  const answer: AuthorizationRequest['answer'] = (fields) => backToApp(redirect, issuer, state, fields);
  try {
    refuseRepeats(read);
    requirePrintableState(read);
    requireCode(values);
    const challenge = challengeIn(values);
    const scopes = requireScopes(values.get('scope'));
    return { outcome: 'ask', request: { client, scopes, redirect, namedRedirect, challenge, answer } };
  } catch (error) {
    if (!(error instanceof OAuthFault)) throw error;
    return { outcome: 'redirect', location: answer({ error: error.error, error_description: error.description }) };
  }
}

function redirectFor(client: Client, named: string): string | undefined {
  const { redirects } = client;
  if (named === '') return redirects.length === 1 ? redirects[0] : undefined;
  return allowsRedirect(redirects, !isConfidential(client), named) ? named : undefined;
}

const refused = (message: string) => ({ outcome: 'refused', message }) as const;
