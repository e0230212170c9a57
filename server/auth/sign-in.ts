import { type UserId, userName } from '@parley/contract';
import { fold } from '../domain/words.ts';
import { clearThrottle, returnAttempt, type Throttle, takeAttempt } from '../store/access/throttles.ts';
import { lockTokensOf } from '../store/access/tokens.ts';
import { findSignIn, type UserRow } from '../store/access/users.ts';
import { hashToken } from './access-token.ts';
import { type Actor, record } from './audit.ts';
import { readDevice } from './device.ts';
import type { SignInServices } from './services.ts';
import { openSession, type Session } from './sessions.ts';

/** The client of an attempt. */
export interface Source {
  readonly address: string;
  /** Attempts are counted by it. Many IPv6 addresses of one client share a key. */
  readonly limitKey: string;
}

export interface Attempt extends Source {
  readonly name: string;
  readonly password: string;
  /** The mark of an earlier sign-in in this browser. */
  readonly device?: string | undefined;
}

export interface Throttled {
  readonly outcome: 'throttled';
  readonly retrySeconds: number;
}

export type SignIn =
  | { readonly outcome: 'signed in'; readonly user: UserRow; readonly session: Session }
  /** The name or the password is wrong, or the user is disabled. The response does not say which. */
  | { readonly outcome: 'refused' }
  | Throttled;

/** An IP may make so many times more attempts than an account allows, because several people can share it. */
const addressShare = 5;

/** Limits the audit log during a flood of attempts. */
const oncePerMinute: Throttle = { burst: 1, everyMs: 60_000 };

export async function signIn(services: SignInServices, attempt: Attempt): Promise<SignIn> {
  const { engine, now, deviceKey, signInLimit } = services;
  const name = userName.safeParse(attempt.name).success ? attempt.name : '';
  const found = await findSignIn(engine, name);
  const device = found && readDevice(deviceKey, found.user_id, attempt.device);
  // Unknown names are throttled too, so that throttling does not reveal which names exist.
  const account = device ? `device ${device}` : `account ${hashToken(fold(name))}`;
  const waitMs = await takeBoth(services, account, attempt, found?.user_id);
  if (waitMs > 0) return throttledFor(waitMs);

  const matches = await services.passwords.matches(attempt.password, found?.password_hash ?? null);
  return engine.write(async (tx) => {
    const at = now();
    // The user may have been disabled, or the password changed, during the check. Both take this lock and end every
    // session, so none is opened after them.
    if (found) await lockTokensOf(tx, found.user_id);
    const user = await findSignIn(tx, name);
    const actor: Actor = { userId: user?.user_id ?? null, appId: 0, address: attempt.address };
    if (!matches || user?.password_hash !== found?.password_hash || user?.disabled_at !== null) {
      await record(tx, at, actor, 'sign_in_failed', { known_user: user !== undefined });
      return { outcome: 'refused' };
    }
    if (signInLimit) {
      await clearThrottle(tx, account);
      await returnAttempt(tx, `address ${attempt.limitKey}`, forAddress(signInLimit));
    }
    const session = await openSession(tx, services, user.user_id, at);
    await record(tx, at, actor, 'signed_in', { known_device: device !== undefined });
    return { outcome: 'signed in', user, session };
  });
}

/**
 * Counts an attempt on an account from an IP, and returns the milliseconds to wait. It counts before the password is checked,
 * so that concurrent attempts count too.
 */
async function takeBoth(
  { engine, now, signInLimit: limit }: SignInServices,
  account: string,
  { address, limitKey }: Source,
  userId: UserId | undefined,
): Promise<number> {
  if (!limit) return 0;
  return engine.write(async (tx) => {
    const at = now();
    const fromAddress = await takeAttempt(tx, `address ${limitKey}`, forAddress(limit), at);
    const atAccount = fromAddress > 0 ? 0 : await takeAttempt(tx, account, limit, at);
    if (fromAddress === 0 && atAccount === 0) return 0;
    // Logged by the limit that was hit: made-up names would each add a line.
    const limited = fromAddress > 0 ? `address ${limitKey}` : account;
    if ((await takeAttempt(tx, `told of ${limited}`, oncePerMinute, at)) === 0) {
      await record(tx, at, { userId: userId ?? null, appId: 0, address }, 'sign_in_throttled');
    }
    return Math.max(fromAddress, atAccount);
  });
}

/** Counts an attempt. Returns undefined if it is allowed. */
export async function throttle(
  { engine, now, signInLimit }: SignInServices,
  key: string,
  adapt: (limit: Throttle) => Throttle = (limit) => limit,
): Promise<Throttled | undefined> {
  if (!signInLimit) return undefined;
  const waitMs = await engine.write((tx) => takeAttempt(tx, key, adapt(signInLimit), now()));
  return waitMs > 0 ? throttledFor(waitMs) : undefined;
}

const throttledFor = (waitMs: number): Throttled => ({
  outcome: 'throttled',
  retrySeconds: Math.ceil(waitMs / 1_000),
});

export const forAddress = ({ burst, everyMs }: Throttle): Throttle => ({
  burst: burst * addressShare,
  everyMs: Math.ceil(everyMs / addressShare),
});
