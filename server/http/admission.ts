import { ParleyError, type Scope } from '@parley/contract';
import { type Authenticator, bearer, type Credential } from '../auth/authenticate.ts';
import { type Caller, requireScopes } from '../auth/caller.ts';
import { limitKey } from './address.ts';
import { asParleyError, type Envelope } from './answer.ts';
import { cookieNames, readCookie } from './cookies.ts';
import { isSameOrigin } from './origin.ts';
import type { Allowance, Counted, RateLimiter } from './rate-limit.ts';

/** The part of `Bun.serve`'s server that a request needs. */
export interface Connections {
  requestIP(request: Request): { address: string } | null;
  /** Changes how long the connection of a request may be silent. */
  timeout(request: Request, seconds: number): void;
}

export interface AdmissionParts {
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter | undefined;
  readonly addressOf: (request: Request, connections: Connections) => string;
  /** Where browsers reach us, if that is set. */
  readonly publicUrl: URL | undefined;
  readonly requestId: () => string;
}

/** Seconds that a connection may be silent. */
export const longestSilence = 60;

/** How often the runtime is told that a connection is not silent. */
const tellEveryMs = 10_000;

/** How one request is let in: who makes it, from where, and within which limit. */
export class Admission implements Envelope {
  readonly requestId: string;
  readonly fromBrowser: boolean;
  readonly started = performance.now();
  readonly #parts: AdmissionParts;
  readonly request: Request;
  readonly connections: Connections;
  #address: string | undefined;
  #caller: Caller | undefined;
  #allowance: Allowance | undefined;
  /** What the caller has shown, once that has been looked for. */
  #credential: Credential | undefined;
  #told = performance.now();

  constructor(parts: AdmissionParts, request: Request, connections: Connections) {
    this.requestId = parts.requestId();
    this.fromBrowser = request.headers.has('origin');
    this.#parts = parts;
    this.request = request;
    this.connections = connections;
  }

  /** Whoever was let in. */
  get caller(): Caller | undefined {
    return this.#caller;
  }

  get allowance(): Allowance | undefined {
    return this.#allowance;
  }

  /** To be asked before anything waits: once a client has hung up, nobody knows any more where it was. */
  locate(): string {
    this.#address ??= this.#parts.addressOf(this.request, this.connections);
    return this.#address;
  }

  /** Who calls. Answers without waiting where the token was seen a moment ago. */
  identify(): Caller | Promise<Caller> {
    return this.#identify(() => this.#mindAddress());
  }

  /** Once more after the body, which may take as long as its sender likes: access that ended meanwhile is over. */
  identifyAgain(): Caller | Promise<Caller> {
    return this.#identify(() => {});
  }

  /** Lets a caller in who has these scopes, and some of the limit left. */
  admit(caller: Caller, scopes: readonly Scope[]): void {
    this.#caller = caller;
    // Those who fetch with links do not use up what others from there have for bad tokens.
    this.#count(caller.kind === 'link' ? `link ${limitKey(this.locate())}` : caller.tokenId);
    requireScopes(caller, scopes);
  }

  /** Some of a long body has come. The runtime takes a sender for silent that is only slow. */
  goesOn(): void {
    if (performance.now() - this.#told < tellEveryMs) return;
    this.#told = performance.now();
    this.connections.timeout(this.request, longestSilence);
  }

  /** Who asks for nothing that there is, or has no valid token, counts against the limit of the address. */
  refusal(thrown: unknown): ParleyError {
    if (this.#caller) return asParleyError(thrown);
    try {
      this.#count(limitKey(this.locate()));
      return asParleyError(thrown);
    } catch (limited) {
      return asParleyError(limited);
    }
  }

  /** As RFC 6750 has it: what is wrong is told where a token was sent. */
  get challenge(): string {
    return `Bearer realm="parley"${this.request.headers.has('authorization') ? ', error="invalid_token"' : ''}`;
  }

  #identify(gate: () => void): Caller | Promise<Caller> {
    this.#credential ??= this.#findCredential();
    return this.#parts.authenticator.authenticate(this.#credential, gate);
  }

  /** A browser's cookie counts where a page of ours made the browser call; elsewhere it is no credential. */
  #findCredential(): Credential {
    const { publicUrl } = this.#parts;
    const { headers } = this.request;
    const authorization = headers.get('authorization');
    if (authorization === null && isSameOrigin(publicUrl, this.request)) {
      const secret = readCookie(headers.get('cookie'), cookieNames(publicUrl?.protocol === 'https:').session);
      if (secret !== undefined) return { secret, isSession: true };
    }
    return { secret: bearer(authorization), isSession: false };
  }

  /** An address that has used up its limit with bad tokens is not looked up again for one that nobody has seen yet. */
  #mindAddress(): void {
    const allowance = this.#parts.limiter?.look(limitKey(this.locate()));
    if (allowance && !allowance.allowed) this.#refuse(allowance);
  }

  #count(who: Counted): void {
    if (!this.#parts.limiter) return;
    this.#allowance = this.#parts.limiter.take(who);
    if (!this.#allowance.allowed) this.#refuse(this.#allowance);
  }

  #refuse(allowance: Allowance): never {
    this.#allowance = allowance;
    throw new ParleyError('rate_limited', `Too many requests. Try again in ${allowance.retrySeconds} s.`);
  }
}
