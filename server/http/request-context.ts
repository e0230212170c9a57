import { ParleyError, type Scope } from '@parley/contract';
import { type Authenticator, bearer, type Credential } from '../auth/authenticate.ts';
import { type Caller, requireScopes } from '../auth/caller.ts';
import { clientIp, limitKey, type TrustedProxies } from './client-ip.ts';
import { cookieNames, readCookie } from './cookies.ts';
import { isSameOrigin } from './origin.ts';
import { type Allowance, type Limited, type RateLimits, tighter } from './rate-limit.ts';

/** The part of `Bun.serve`'s server that a request needs. */
export interface Connections {
  requestIP(request: Request): { address: string } | null;
  /** Sets how long the connection of a request may be idle. */
  timeout(request: Request, seconds: number): void;
}

export interface RequestContextDeps {
  readonly authenticator: Authenticator;
  readonly limits: RateLimits;
  readonly trustedProxies: TrustedProxies;
  /** The URL that browsers use, if it is configured. */
  readonly publicUrl: URL | undefined;
  readonly newRequestId: () => string;
  readonly monotonic: () => number;
}

/** The id of the user for whom a request is made. A page sends it, because the cookie may be of somebody else by now. */
const userHeader = 'parley-user';

/** Seconds that a connection may be idle. */
export const idleTimeoutSeconds = 60;

/** The idle timeout is reset this often while a body arrives. */
const keepAliveEveryMs = 10_000;

/** A post through an incoming webhook counts as so many requests of a token: 5 per second, and 20 in a row, by default. */
const requestsPerPost = 10;

/** An incoming webhook, for its limits. */
interface LimitedHook {
  readonly hook_id: number;
  readonly created_by: number;
}

const noGate = () => {};

/** One request: its id, its client, its caller, its rate limit, and what its log line says. */
export class RequestContext {
  readonly requestId: string;
  readonly request: Request;
  readonly connections: Connections;
  readonly startedAt: number;
  /** True with an Origin header. Only browsers send one, and only they read CORS headers. */
  readonly hasOrigin: boolean;

  /** For the log line and the metrics. */
  operation = 'none';
  /** The HTTP method, or the one that X-HTTP-Method-Override names. */
  method: string;
  /** The incoming webhook that the request posts through, for the log line. */
  hookId: number | undefined;
  /** The route of a page. */
  page: string | undefined;
  error: { readonly code: string; readonly cause?: unknown } | undefined;

  /** True if the response is that of an earlier call with the same Idempotency-Key. */
  isReplayed = false;

  /** True while the client may still send the body. The connection then closes with the response. */
  isBodyPending = false;

  readonly #deps: RequestContextDeps;
  #clientIp: string | undefined;
  #caller: Caller | undefined;
  #allowance: Allowance | undefined;
  #credential: Credential | undefined;
  #keptAliveAt: number;

  constructor(deps: RequestContextDeps, request: Request, connections: Connections) {
    this.requestId = deps.newRequestId();
    this.startedAt = deps.monotonic();
    this.hasOrigin = request.headers.has('origin');
    this.method = request.method;
    this.request = request;
    this.connections = connections;
    this.#deps = deps;
    this.#keptAliveAt = this.startedAt;
  }

  get monotonic(): () => number {
    return this.#deps.monotonic;
  }

  /** Undefined until `admit`. */
  get caller(): Caller | undefined {
    return this.#caller;
  }

  /** For the RateLimit headers: the tighter limit of those that count. Undefined if rate limiting is off. */
  get allowance(): Allowance | undefined {
    return this.#allowance;
  }

  /** Returns the client's IP. The first call must come before the first await: it is unknown after a disconnect. */
  clientIp(): string {
    this.#clientIp ??= clientIp(
      this.#deps.trustedProxies,
      this.connections.requestIP(this.request)?.address ?? 'unknown',
      this.request.headers.get('x-forwarded-for'),
    );
    return this.#clientIp;
  }

  /** Returns the caller, without a promise if the token is cached. Throws `unauthorized` or `rate_limited`. */
  authenticate(gate = () => this.checkClientLimit()): Caller | Promise<Caller> {
    this.#credential ??= this.#findCredential();
    const caller = this.#deps.authenticator.authenticate(this.#credential, gate);
    if (!this.request.headers.has(userHeader)) return caller;
    return caller instanceof Promise ? caller.then((loaded) => this.#requireNamed(loaded)) : this.#requireNamed(caller);
  }

  /** Authenticates again after the body, because access may have ended while it arrived. */
  reauthenticate(): Caller | Promise<Caller> {
    return this.authenticate(noGate);
  }

  /**
   * Returns the caller of the browser's session, or undefined if there is none or it has ended. Throws `forbidden` if the page
   * that made the request is of another user: it must not sign this one out.
   */
  async authenticateSession(): Promise<Caller | undefined> {
    const secret = this.sessionSecret();
    if (secret === undefined) return undefined;
    try {
      const caller = await this.#deps.authenticator.authenticate({ secret, isSession: true }, noGate);
      if (!this.#isNamed(caller)) throw new ParleyError('forbidden', 'Somebody else has signed in. Reload the page.');
      return caller;
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'unauthorized') return undefined;
      throw error;
    }
  }

  /** Returns the session in the browser's cookie, whether it works or not. */
  sessionSecret(): string | undefined {
    const { session } = cookieNames(this.#deps.publicUrl?.protocol === 'https:');
    return readCookie(this.request.headers.get('cookie'), session);
  }

  /** Counts the request against the limits of the caller and of its owner, and checks the scopes. */
  admit(caller: Caller, scopes: readonly Scope[]): void {
    this.#caller = caller;
    this.#countCaller(caller);
    requireScopes(caller, scopes);
  }

  /** Counts an expensive request as so many more, before the work is done. Throws `rate_limited`. */
  charge(requests: number): void {
    if (requests >= 1 && this.#caller) this.#countCaller(this.#caller, requests);
  }

  /** Counts a post through an incoming webhook against its own limit, and that of its creator. Throws `rate_limited`. */
  admitHook(hook: LimitedHook): void {
    this.hookId = hook.hook_id;
    this.#countHook(hook, 1);
  }

  /** Counts a large post as so many more, before it is parsed. Throws `rate_limited`. */
  chargeHook(hook: LimitedHook, posts: number): void {
    if (posts >= 1) this.#countHook(hook, posts);
  }

  /** Counts the request against a limit of the client's IP. Throws `rate_limited`. */
  countClient(limit = '', cost = 1): void {
    this.#allowance = this.#deps.limits.callers?.take(`${limit}${limitKey(this.clientIp())}`, cost);
    this.#requireAllowance();
  }

  /** Reads the limit of the client's IP for the RateLimit headers, and counts nothing. */
  peekClientLimit(): void {
    this.#allowance = this.#deps.limits.callers?.peek(limitKey(this.clientIp()));
  }

  /** Throws `rate_limited` if too many requests from this IP have failed. */
  checkClientLimit(): void {
    this.peekClientLimit();
    this.#requireAllowance();
  }

  /** Counts a failure without a caller against the client's IP. Returns the error, or `rate_limited` instead. */
  countFailure(thrown: unknown): unknown {
    if (this.#caller || (thrown instanceof ParleyError && thrown.code === 'rate_limited')) return thrown;
    try {
      this.countClient();
      return thrown;
    } catch (limited) {
      return limited;
    }
  }

  /** Resets the idle timeout: the runtime takes a client that sends slowly for an idle one. */
  keepAlive(): void {
    const now = this.#deps.monotonic();
    if (now - this.#keptAliveAt < keepAliveEveryMs) return;
    this.#keptAliveAt = now;
    this.connections.timeout(this.request, idleTimeoutSeconds);
  }

  /** Returns whether the caller is the one that the request names, if it names one. */
  #isNamed({ userId }: Caller): boolean {
    const named = this.request.headers.get(userHeader);
    return named === null || named === String(userId);
  }

  /** A tab may still be open after somebody else has signed in. It must neither read nor write as that person. */
  #requireNamed(caller: Caller): Caller {
    if (!this.#isNamed(caller)) {
      throw new ParleyError('unauthorized', 'Parley-User is not the id of the user who is signed in.');
    }
    return caller;
  }

  /** Returns a bearer token, or a session if a page of ours made the browser send its cookie. */
  #findCredential(): Credential {
    const { publicUrl } = this.#deps;
    const authorization = this.request.headers.get('authorization');
    if (authorization === null && isSameOrigin(publicUrl, this.request)) {
      const secret = this.sessionSecret();
      if (secret !== undefined) return { secret, isSession: true };
    }
    return { secret: bearer(authorization), isSession: false };
  }

  /**
   * A token above its own limit takes nothing from the other tokens of its owner. Anybody may use a link, so it takes nothing
   * from its maker: it counts for the client's IP, apart from the limit for failed requests of the same IP.
   */
  #countCaller({ kind, tokenId, ownerId }: Caller, cost = 1): void {
    if (kind === 'link') {
      this.countClient('link ', cost);
      return;
    }
    this.#count(tokenId, cost, ownerId, cost);
  }

  #countHook({ hook_id, created_by }: LimitedHook, posts: number): void {
    this.#count(`hook ${hook_id}`, posts * requestsPerPost, created_by, posts);
  }

  /** What is above its own limit takes nothing from its owner. */
  #count(caller: Limited, cost: number, ownerId: number, ownerCost: number): void {
    const { callers, owners } = this.#deps.limits;
    const own = callers?.take(caller, cost);
    const isRefused = own?.allowed === false;
    this.#allowance = isRefused ? own : tighter(own, owners?.take(ownerId, ownerCost));
    this.#requireAllowance();
  }

  #requireAllowance(): void {
    if (!this.#allowance || this.#allowance.allowed) return;
    throw new ParleyError('rate_limited', `Too many requests. Try again in ${this.#allowance.retrySeconds} s.`);
  }
}
