import type { AccessServices } from '../services.ts';
import { authorize } from './authorization.ts';
import { type AuthorizationCheck, type AuthorizationEnd, readAuthorization } from './authorization-request.ts';
import type { Decider } from './consented-grant.ts';
import {
  type DeviceCall,
  type DeviceDecision,
  type DeviceRequest,
  type DeviceSearch,
  decideDevice,
  findDevice,
  startDevice,
} from './device-authorization.ts';
import { readParameters, refuseRepeats } from './parameters.ts';
import { revokeToken } from './revoke.ts';
import { type AppCall, issueTokens } from './token.ts';

export type { AuthorizationCheck } from './authorization-request.ts';
export type { Client } from './client.ts';
export type { Decider } from './consented-grant.ts';
export type { DeviceRequest } from './device-authorization.ts';
export { devicePage, metadata, oauthPaths, resourceMetadata } from './metadata.ts';

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

  /** Returns the codes for a device without a browser (RFC 8628). Throws an `OAuthFault`. */
  async startDevice(call: OAuthCall & Pick<DeviceCall, 'networks' | 'issuer'>): Promise<object> {
    return startDevice(this.#services, parse(call));
  }

  /** Finds the request behind a code that a user typed. Counts the attempts of the user. */
  findDevice(typed: string, user: Decider): Promise<DeviceSearch> {
    return findDevice(this.#services, typed, user);
  }

  /** Executes the decision of the user about the device that `findDevice` found. */
  decideDevice(request: DeviceRequest, user: Decider, allowed: boolean): Promise<DeviceDecision> {
    return decideDevice(this.#services, request, user, allowed);
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

function parse<C extends OAuthCall>({ fields, ...call }: C): Omit<C, 'fields'> & Pick<AppCall, 'form'> {
  const read = readParameters(fields);
  refuseRepeats(read);
  return { ...call, form: read.values };
}
