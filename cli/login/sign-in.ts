import { program } from '@parley/server/lib/program.ts';
import { untilAborted } from '@parley-chat/sdk/retry.ts';
import * as oauth from 'oauth4webapi';
import { timeoutSignal } from '../timeout.ts';
import { type Callback, listenOnLoopback, page } from './loopback.ts';
import { client, OAuthRefusal, redeemCode, type Target, type Tokens } from './oauth.ts';

/** The wait for the browser. */
const timeoutMs = 5 * 60_000;

export interface SignIn<T> extends Target {
  readonly metadata: oauth.AuthorizationServer;
  readonly scopes: readonly string[];
  /** Uses the tokens. The browser shows success only after that. */
  readonly finish: (tokens: Tokens) => Promise<T>;
  /** Aborts the wait for the browser. */
  readonly signal: AbortSignal;
}

interface BrowserSignIn<T> extends SignIn<T> {
  /** Shows the user the URL to open in a browser. */
  readonly show: (url: string) => Promise<void>;
}

/** Lets the user authorize the command line in a browser: code flow with PKCE (RFC 7636) and a loopback redirect. */
export async function signIn<T>(options: BrowserSignIn<T>): Promise<T> {
  const { metadata, scopes, show, finish, clock } = options;
  const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()];
  const loopback = listenOnLoopback(state);
  try {
    const { redirect } = loopback;
    const url = new URL(metadata.authorization_endpoint ?? '');
    const query = {
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: redirect,
      scope: scopes.join(' '),
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    await show(url.href);
    const callback = await waitFor(loopback.callback, options);
    return await showingOutcome(callback, async () => {
      const params = validate(metadata, callback.params, state);
      return finish(await redeemCode(options, metadata, { params, redirect, verifier }, scopes));
    });
  } finally {
    await loopback.close(clock);
  }
}

async function waitFor(callback: Promise<Callback>, { clock, signal }: SignIn<unknown>): Promise<Callback> {
  const message = `Nobody signed in within the time limit. Start again: ${program} login`;
  using timeout = timeoutSignal(clock, timeoutMs, message);
  signal.throwIfAborted();
  return await untilAborted(callback, AbortSignal.any([signal, timeout.signal]));
}

/** Checks state and issuer: another server may have sent the browser here to obtain the code (RFC 9207). */
function validate(metadata: oauth.AuthorizationServer, params: URLSearchParams, state: string): URLSearchParams {
  try {
    return oauth.validateAuthResponse(metadata, client, params, state);
  } catch (error) {
    if (!(error instanceof oauth.AuthorizationResponseError)) {
      throw new Error(`The sign-in response is not from ${metadata.issuer}. Start again: ${program} login`);
    }
    const { error: code, error_description: description } = error;
    if (code === 'access_denied') throw new Error(`Access was denied. ${description ?? ''}`.trim());
    throw new OAuthRefusal(code, description);
  }
}

/** Runs the work, and shows its outcome in the browser. */
async function showingOutcome<T>({ show }: Callback, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    show(page(200, 'You are signed in. You can close this window.'));
    return result;
  } catch (error) {
    show(page(400, `You are not signed in. ${(error as Error).message}`));
    throw error;
  }
}
