import type { Scope } from '@parley/contract';
import type { AccessServices } from '../services.ts';
import { type OAuthAnswer, refusal } from './answers.ts';
import { authorize, type Decider } from './authorization.ts';
import { readAuthorization } from './authorization-request.ts';
import type { Client } from './client.ts';
import { OAuthFault } from './faults.ts';
import { readParameters, refuseRepeats } from './parameters.ts';
import { takeBack } from './revoke.ts';
import { type AppCall, giveTokens } from './token.ts';

export type { OAuthAnswer } from './answers.ts';
export type { Decider } from './authorization.ts';
export type { Client } from './client.ts';
export { metadata, oauthPaths } from './metadata.ts';

export type AuthorizationCheck =
  /** All is well: the user may be asked. Scopes stand in the order of the contract's table. */
  | {
      readonly outcome: 'ask';
      readonly client: Client;
      readonly scopes: readonly Scope[];
      /** Where the app is to be sent back to: one of its own addresses. */
      readonly redirect: string;
    }
  | AuthorizationEnd;

export type AuthorizationEnd =
  /** The browser is to go back to the app, with a code or with what is wrong. */
  | { readonly outcome: 'redirect'; readonly location: string }
  /** It is not known that the address is the app's, so nobody is sent there. A page says why. */
  | { readonly outcome: 'refused'; readonly message: string };

/** What an app sends to an endpoint. */
export interface OAuthCall {
  /** The fields of the form, as they came. */
  readonly fields: Iterable<readonly [string, string]>;
  /** The header of that name. */
  readonly authorization: string | null;
  readonly address: string;
}

/** OAuth 2: how an app gets to act for a user, or for itself as its bot. */
export class OAuth {
  readonly #services: AccessServices;

  constructor(services: AccessServices) {
    this.#services = services;
  }

  /** Looks at an authorization request before anybody signs in or is asked. `issuer` is our own origin. */
  async check(params: URLSearchParams, issuer: string): Promise<AuthorizationCheck> {
    const read = await readAuthorization(this.#services.engine, params, issuer);
    if (read.outcome !== 'ask') return read;
    const { client, scopes, redirect } = read.request;
    return { outcome: 'ask', client, scopes, redirect };
  }

  /** What the user decided: answers where the browser is to go. The request is looked at anew. */
  async decide(params: URLSearchParams, user: Decider, allowed: boolean, issuer: string): Promise<AuthorizationEnd> {
    const read = await readAuthorization(this.#services.engine, params, issuer);
    if (read.outcome !== 'ask') return read;
    const { request } = read;
    const location = allowed
      ? await authorize(this.#services, request, user)
      : request.answer({ error: 'access_denied', error_description: 'The user has not authorized the app.' });
    return { outcome: 'redirect', location };
  }

  /** Tokens for a code, a refresh token, or an app's own credentials. */
  token(call: OAuthCall): Promise<OAuthAnswer> {
    return this.#answer(call, giveTokens);
  }

  /** Ends a token (RFC 7009). */
  revoke(call: OAuthCall): Promise<OAuthAnswer> {
    return this.#answer(call, takeBack);
  }

  async #answer(
    { fields, authorization, address }: OAuthCall,
    serve: (services: AccessServices, call: AppCall) => Promise<OAuthAnswer>,
  ): Promise<OAuthAnswer> {
    try {
      const read = readParameters(fields);
      refuseRepeats(read);
      return await serve(this.#services, { form: read.values, authorization, address });
    } catch (error) {
      if (error instanceof OAuthFault) return refusal(error);
      throw error;
    }
  }
}
