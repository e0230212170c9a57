import type { AccessServices } from '../services.ts';
import { authorize, type Decider } from './authorization.ts';
import { type AuthorizationCheck, type AuthorizationEnd, readAuthorization } from './authorization-request.ts';
import { readParameters, refuseRepeats } from './parameters.ts';
import { revokeToken } from './revoke.ts';
import { type AppCall, issueTokens } from './token.ts';

export type { Decider } from './authorization.ts';
export type { AuthorizationCheck } from './authorization-request.ts';
export type { Client } from './client.ts';
export { metadata, oauthPaths, resourceMetadata } from './metadata.ts';

/** A request of an app. */
export interface OAuthCall extends Omit<AppCall, 'form'> {
  readonly fields: Iterable<readonly [string, string]>;
}

/** OAuth 2. It lets an app act for a user, or as its own bot. */
export class OAuth {
  readonly #services: AccessServices;

  constructor(services: AccessServices) {
    this.#services = services;
  }

  /** Checks an authorization request before the user signs in. `issuer` is our own origin. */
  check(params: URLSearchParams, issuer: string): Promise<AuthorizationCheck> {
    return readAuthorization(this.#services.engine, params, issuer);
  }

  /** Executes the decision of the user, and returns where the browser goes. Checks the request again. */
  async decide(params: URLSearchParams, user: Decider, allowed: boolean, issuer: string): Promise<AuthorizationEnd> {
    const request = await this.check(params, issuer);
    if (request.outcome !== 'ask') return request;
    const location = allowed
      ? await authorize(this.#services, request, user)
      : request.urlFor({ error: 'access_denied', error_description: 'The user has not authorized the app.' });
    return { outcome: 'redirect', location };
  }

  /** Returns tokens for a code, a refresh token, or an app's own credentials. Throws an `OAuthFault`. */
  async token(call: OAuthCall): Promise<object> {
    return issueTokens(this.#services, parse(call));
  }

  /** Revokes a token (RFC 7009). Throws an `OAuthFault`. */
  async revoke(call: OAuthCall): Promise<object> {
    return revokeToken(this.#services, parse(call));
  }
}

function parse({ fields, ...call }: OAuthCall): AppCall {
  const read = readParameters(fields);
  refuseRepeats(read);
  return { ...call, form: read.values };
}
