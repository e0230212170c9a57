import { program } from '@parley/server/lib/program.ts';
import { isTransient } from '@parley-chat/sdk/retry.ts';
import { timeoutSignal } from '../timeout.ts';
import { OAuthRefusal, redeemDevice, startDevice } from './oauth.ts';
import type { SignIn } from './sign-in.ts';

/** What the user needs in a browser on any machine. */
export interface DeviceCode {
  readonly url: string;
  readonly code: string;
  /** The URL with the code. */
  readonly link: string | undefined;
}

interface DeviceSignIn<T> extends SignIn<T> {
  readonly show: (code: DeviceCode) => Promise<void>;
}

/** The default, and what each refusal to respond so soon adds (RFC 8628, 3.5). */
const intervalMs = 5_000;

/** Lets the user authorize the command line in a browser on any machine, with a code (RFC 8628). */
export async function signInOnDevice<T>(options: DeviceSignIn<T>): Promise<T> {
  const { metadata, scopes, show, finish, clock } = options;
  const started = await startDevice(options, metadata, scopes);
  await show({
    url: started.verification_uri,
    code: started.user_code,
    link: started.verification_uri_complete,
  });
  using timeout = timeoutSignal(clock, started.expires_in * 1_000, expired);
  const signal = AbortSignal.any([options.signal, timeout.signal]);
  let waitMs = started.interval === undefined ? intervalMs : started.interval * 1_000;
  for (;;) {
    await clock.sleep(waitMs, signal);
    const outcome = await redeemDevice(options, metadata, started.device_code, scopes).catch(waitLonger);
    if (typeof outcome === 'object') return finish(outcome);
    waitMs += outcome;
  }
}

const expired = `The code has expired. Start again: ${program} login --device`;

/** Returns the milliseconds to wait longer from now on, or throws if waiting is of no use. */
function waitLonger(error: unknown): number {
  // The server may be restarting.
  if (isTransient(error)) return intervalMs;
  if (!(error instanceof OAuthRefusal)) throw error;
  if (error.code === 'authorization_pending') return 0;
  if (error.code === 'slow_down') return intervalMs;
  if (error.code === 'access_denied') throw new Error('Access was denied.');
  throw error.code === 'expired_token' ? new Error(expired) : error;
}
