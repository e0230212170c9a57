import type { Scope } from '@parley/contract';
import type { AccessServices } from '../services.ts';
import { authorize, type Decider } from './authorization.ts';
import { readAuthorization } from './authorization-request.ts';
import type { Client } from './client.ts';
import { readParameters, refuseRepeats } from './parameters.ts';
import { revokeToken } from './revoke.ts';
import { type AppCall, issueTokens } from './token.ts';

export type { Decider } from './authorization.ts';
export type { Client } from './client.ts';
export { metadata, oauthPaths } from './metadata.ts';

export type AuthorizationCheck =
  /** The request is valid. The scopes are in the order of the contract. */
  | {
      readonly outcome: 'ask';
      readonly client: Client;
      readonly scopes: readonly Scope[];
      /** The URL that the browser returns to. It is registered for the app. */
      readonly redirect: string;
    }
  | AuthorizationEnd;

export type AuthorizationEnd =
  /** The browser returns to the app with a code or an error. */
  | { readonly outcome: 'redirect'; readonly location: string }
  /** The redirect URL may not be the app's, so a page shows the error instead. */
  | { readonly outcome: 'refused'; readonly message: string };

/** A request of an app. */
export interface OAuthCall {
  readonly fields: Iterable<readonly [string, string]>;
  readonly authorization: string | null;
  readonly address: string;
}

/** OAuth 2. It lets an app act for a user, or as its own bot. */
export class OAuth {
  readonly #services: AccessServices;

  constructor(services: AccessServices) {
    this.#services = services;
  }

  /** Checks an authorization request before the user signs in. `issuer` is our own origin. */
  async check(params: URLSearchParams, issuer: string): Promise<AuthorizationCheck> {
    const read = await readAuthorization(this.#services.engine, params, issuer);
    if (read.outcome !== 'ask') return read;
    const { client, scopes, redirect } = read.request;
    return { outcome: 'ask', client, scopes, redirect };
  }

  /** Executes the decision of the user, and returns where the browser goes. Checks the request again. */
  async decide(params: URLSearchParams, user: Decider, allowed: boolean, issuer: string): Promise<AuthorizationEnd> {
    const read = await readAuthorization(this.#services.engine, params, issuer);
    if (read.outcome !== 'ask') return read;
    const { request } = read;
    const location = allowed
      ? await authorize(this.#services, request, user)
      : request.urlFor({ error: 'access_denied', error_description: 'The user has not authorized the app.' });
    return { outcome: 'redirect', location };
  }

  /** Returns tokens for a code, a refresh token, or an app's own credentials. Throws an `OAuthFault`. */
  async token(call: OAuthCall): Promise<object> {
    return issueTokens(this.#services, appCall(call));
  }

  /** Revokes a token (RFC 7009). Throws an `OAuthFault`. */
  async revoke(call: OAuthCall): Promise<object> {
    return revokeToken(this.#services, appCall(call));
  }
}

function appCall({ fields, authorization, address }: OAuthCall): AppCall {
  const read = readParameters(fields);
  refuseRepeats(read);
  return { form: read.values, authorization, address };
}
