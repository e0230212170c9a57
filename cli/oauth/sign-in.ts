import type { Clock } from '../context.ts';
import { OAuthRefusal } from './exchange.ts';
import { type Callback, Loopback } from './loopback.ts';
import { type AuthorizationServer, discover } from './metadata.ts';
import { page } from './page.ts';
import { clientId, redeemCode, type Tokens } from './tokens.ts';

export interface SignIn<T> {
  readonly server: string;
  readonly scopes: readonly string[];
  /** Shows somebody the address to open in a browser. */
  readonly show: (address: string) => Promise<void>;
  /** Does what is to be done with the tokens before the browser is told that all is well. */
  readonly finish: (tokens: Tokens) => Promise<T>;
  readonly patienceMs: number;
  readonly clock: Clock;
  /** Ends the wait for the browser. */
  readonly signal: AbortSignal;
}

/** Has somebody authorize the command line in a browser: a code with PKCE (RFC 7636), by way of a loopback address. */
export async function signIn<T>(wanted: SignIn<T>): Promise<T> {
  const { scopes, show, finish, clock } = wanted;
  const authorizationServer = await discover(wanted);
  const [state, verifier] = [newSecret(), newSecret()];
  const loopback = new Loopback(state);
  try {
    const { redirect } = loopback;
    await show(addressFor(authorizationServer, { scopes, state, verifier, redirect }));
    const callback = await waitFor(loopback.callback, wanted);
    return await answering(callback, async () => {
      const code = readCode(callback.params, authorizationServer);
      return finish(await redeemCode(wanted, authorizationServer, { code, redirect, verifier }, scopes));
    });
  } finally {
    await loopback.close(clock);
  }
}

function addressFor(
  { authorizationEndpoint }: AuthorizationServer,
  request: { scopes: readonly string[]; state: string; verifier: string; redirect: string },
): string {
  const address = new URL(authorizationEndpoint);
  const params = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: request.redirect,
    scope: request.scopes.join(' '),
    state: request.state,
    code_challenge: new Bun.CryptoHasher('sha256').update(request.verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(params)) address.searchParams.set(name, value);
  return address.href;
}

/** 256 random bits, in as many characters as a verifier must have. */
const newSecret = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');

function readCode(params: Callback['params'], { issuer, namesItself }: AuthorizationServer): string {
  const named = params.get('iss');
  // Another server may answer in place of the one that was asked, to be given the code (RFC 9207).
  if (named === undefined ? namesItself : named !== issuer) {
    throw new Error(`The answer does not come from ${issuer}, so it was not believed.`);
  }
  const error = params.get('error');
  const description = params.get('error_description');
  if (error === 'access_denied') throw new Error(`Access was denied. ${description ?? ''}`.trim());
  if (error !== undefined) throw new OAuthRefusal(error, description);
  const code = params.get('code');
  if (code === undefined) throw new Error('The browser came back without a code.');
  return code;
}

/** Does the work, and shows in the browser how it went. */
async function answering<T>({ show }: Callback, work: () => Promise<T>): Promise<T> {
  try {
    const done = await work();
    show(page(200, 'You are signed in; you can close this window.'));
    return done;
  } catch (error) {
    show(page(400, `You are not signed in. ${(error as Error).message}`));
    throw error;
  }
}

/** The callback of the browser. Throws where there is none in time, or the signal is aborted. */
async function waitFor(
  callback: Promise<Callback>,
  { patienceMs, clock, signal }: Pick<SignIn<unknown>, 'patienceMs' | 'clock' | 'signal'>,
): Promise<Callback> {
  const over = Promise.withResolvers<never>();
  const stop = () => over.reject(signal.reason);
  const cancel = clock.timeout(patienceMs, () => {
    over.reject(new Error('Nobody signed in within the time there was. Begin again: npx parley login'));
  });
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([callback, over.promise]);
  } finally {
    cancel();
    signal.removeEventListener('abort', stop);
  }
}
