import { type UserId, userName } from '@parley/contract';
import { fold } from '../domain/words.ts';
import { clearThrottle, returnAttempt, type Throttle, takeAttempt } from '../store/access/throttles.ts';
import { lockTokensOf } from '../store/access/tokens.ts';
import { findSignIn } from '../store/access/users.ts';
import type { Tx } from '../store/engine/engine.ts';
import { hashToken } from './access-token.ts';
import type { Arrival } from './arrivals.ts';
import { type Actor, record } from './audit.ts';
import { markDevice, readDevice } from './device.ts';
import type { SignInServices } from './services.ts';
import { openSession } from './sessions.ts';

/** The client of an attempt. */
export interface Source {
  readonly address: string;
  /** The browser, as `cleanUserAgent` returns it. */
  readonly userAgent: string | null;
  /** Attempts are counted by each of them. The narrowest comes first. */
  readonly networks: readonly string[];
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
  | ({ readonly outcome: 'signed in' } & Arrival)
  /** The name or the password is wrong. The response does not say which. */
  | { readonly outcome: 'refused' }
  /** The password is right, so only somebody who knows it learns that the account exists and is disabled. */
  | { readonly outcome: 'disabled' }
  | Throttled;

/**
 * A network may make so many times more attempts than an account allows, because several people can share it: an IPv4
 * address or an IPv6 /64, a /56 (one household), and a /48 (a site, or the households of one provider).
 */
const networkShares = [5, 10, 50] as const;

/** Limits the audit log during a flood of attempts. */
const oncePerMinute: Throttle = { burst: 1, everyMs: 60_000 };

export async function signIn(services: SignInServices, attempt: Attempt): Promise<SignIn> {
  const { engine, now, deviceKey, signInLimit } = services;
  const name = userName.safeParse(attempt.name).success ? attempt.name : '';
  const found = await findSignIn(engine, name);
  const device = found && readDevice(deviceKey, found, attempt.device);
  // Unknown names are throttled too, so that throttling does not reveal which names exist.
  const stranger = `account ${hashToken(fold(name))}`;
  // All known devices of an account together: each sign-in makes another.
  const account = device && found ? `devices of ${found.user_id}` : stranger;
  // A known device is not held up by what strangers do in its network.
  const budgets = signInLimit
    ? [
        ...(device ? [] : networkBudgets('address', attempt.networks, signInLimit)),
        { key: account, limit: signInLimit },
      ]
    : [];
  const waitMs = await takeAndRecord(services, budgets, attempt.address, found?.user_id);
  if (waitMs > 0) return throttledFor(waitMs);

  const matches = await services.passwords.matches(attempt.password, found?.password_hash ?? null, stranger);
  return engine.write(async (tx) => {
    const at = now();
    // The user may have been disabled, or the password changed, during the check. Both take this lock and end every
    // session, so none is opened after them.
    if (found) await lockTokensOf(tx, found.user_id);
    const user = await findSignIn(tx, name);
    const actor: Actor = { userId: user?.user_id ?? null, appId: 0, address: attempt.address };
    if (!matches || !user || user.password_hash !== found?.password_hash) {
      await record(tx, at, actor, 'sign_in_failed', { known_user: user !== undefined });
      return { outcome: 'refused' };
    }
    if (user.disabled_at !== null) {
      await record(tx, at, actor, 'sign_in_failed', { known_user: true, disabled: true });
      return { outcome: 'disabled' };
    }
    for (const { key, limit } of budgets) {
      // Otherwise somebody could sign in to their own account without end, and keep the processor busy.
      if (device) continue;
      await (key === account ? clearThrottle(tx, key) : returnAttempt(tx, key, limit));
    }
    const session = await openSession(tx, services, user.user_id, at, attempt.userAgent);
    await record(tx, at, actor, 'signed_in', { known_device: device !== undefined });
    return { outcome: 'signed in', user, session, device: markDevice(services, user) };
  });
}

/** Attempts that are counted under a key. */
interface Budget {
  readonly key: string;
  readonly limit: Throttle;
}

/** Returns the budgets of an act in these networks. */
export function networkBudgets(
  act: 'address' | 'sign-up' | 'device code',
  networks: readonly string[],
  limit: Throttle,
): Budget[] {
  return networks.map((network, i) => {
    const share = networkShares[i] ?? 1;
    const widened = { burst: limit.burst * share, everyMs: Math.ceil(limit.everyMs / share) };
    return { key: `${act} ${network}`, limit: widened };
  });
}

/**
 * Counts an attempt, up to the first budget that is used up: who is refused takes nothing from wider networks. Returns that
 * budget with the milliseconds to wait.
 */
export async function take(
  tx: Tx,
  budgets: readonly Budget[],
  at: number,
): Promise<{ readonly key: string; readonly waitMs: number } | undefined> {
  for (const { key, limit } of budgets) {
    const waitMs = await takeAttempt(tx, key, limit, at);
    if (waitMs > 0) return { key, waitMs };
  }
  return undefined;
}

/**
 * Counts an attempt to sign in, and returns the milliseconds to wait. It counts before the password is checked, so that
 * concurrent attempts count too.
 */
async function takeAndRecord(
  { engine, now }: SignInServices,
  budgets: readonly Budget[],
  address: string,
  userId: UserId | undefined,
): Promise<number> {
  if (budgets.length === 0) return 0;
  return engine.write(async (tx) => {
    const at = now();
    const refused = await take(tx, budgets, at);
    if (!refused) return 0;
    // Logged by the limit that was hit: made-up names would each add a line.
    if ((await takeAttempt(tx, `told of ${refused.key}`, oncePerMinute, at)) === 0) {
      await record(tx, at, { userId: userId ?? null, appId: 0, address }, 'sign_in_throttled');
    }
    return refused.waitMs;
  });
}

/** Counts an attempt. Returns undefined if it is allowed. */
export async function throttle(
  { engine, now, signInLimit }: SignInServices,
  budgetsOf: (limit: Throttle) => readonly Budget[],
): Promise<Throttled | undefined> {
  if (!signInLimit) return undefined;
  const refused = await engine.write((tx) => take(tx, budgetsOf(signInLimit), now()));
  return refused && throttledFor(refused.waitMs);
}

export const throttledFor = (waitMs: number): Throttled => ({
  outcome: 'throttled',
  retrySeconds: Math.ceil(waitMs / 1_000),
});
