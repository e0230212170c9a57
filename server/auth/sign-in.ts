import { type UserId, userName } from '@parley/contract';
import { fold } from '../domain/words.ts';
import { clearThrottle, returnAttempt, type Throttle, takeAttempt } from '../store/access/throttles.ts';
import { lockTokensOf } from '../store/access/tokens.ts';
import { findSignIn, type UserRow } from '../store/access/users.ts';
import type { Tx } from '../store/engine/engine.ts';
import { hashToken } from './access-token.ts';
import { type Actor, record } from './audit.ts';
import { readDevice } from './device.ts';
import type { SignInServices } from './services.ts';
import { openSession, type Session } from './sessions.ts';

/** Where an attempt comes from. */
export interface Source {
  readonly address: string;
  /** What its attempts are counted by: whoever has one IPv6 address has very many. */
  readonly limitKey: string;
}

export interface Attempt extends Source {
  readonly name: string;
  readonly password: string;
  /** The mark that the browser kept from an earlier sign-in. */
  readonly device?: string | undefined;
}

export type SignIn =
  | { readonly outcome: 'signed in'; readonly user: UserRow; readonly session: Session }
  /** The name, the password or both are wrong, or the user may not sign in: nobody is told which. */
  | { readonly outcome: 'refused' }
  | { readonly outcome: 'throttled'; readonly retrySeconds: number };

/** From one address as many more may be tried: several people can share it. */
const addressShare = 5;

/** A flood of attempts leaves one line a minute for each that is slowed down. */
const oncePerMinute: Throttle = { burst: 1, everyMs: 60_000 };

export async function signIn(services: SignInServices, attempt: Attempt): Promise<SignIn> {
  const { engine, now, deviceKey } = services;
  const name = userName.safeParse(attempt.name).success ? attempt.name : '';
  const found = await findSignIn(engine, name);
  const device = found && readDevice(deviceKey, found.user_id, attempt.device);
  // Of a name that nobody has, too: being slowed down must not tell which names there are.
  const account = device ? `device ${device}` : `account ${hashToken(fold(name))}`;
  const wait = await takeBoth(services, account, attempt, found?.user_id);
  if (wait > 0) return { outcome: 'throttled', retrySeconds: Math.ceil(wait / 1_000) };

  const matches = await services.passwords.matches(attempt.password, found?.password_hash ?? null);
  return engine.write(async (tx) => {
    const at = now();
    // Once more: the user may have been disabled, or the password changed, while it was checked. Both take this lock and
    // end every session, so none is opened behind their back.
    if (found) await lockTokensOf(tx, found.user_id);
    const user = await findSignIn(tx, name);
    const actor: Actor = { userId: user?.user_id ?? null, appId: 0, address: attempt.address };
    if (!matches || user?.password_hash !== found?.password_hash || !user || user.disabled_at !== null) {
      await record(tx, at, actor, 'sign_in_failed', { known_user: user !== undefined });
      return { outcome: 'refused' };
    }
    await giveBack(tx, services, account, attempt.limitKey);
    const session = await openSession(tx, services, user.user_id, at);
    await record(tx, at, actor, 'signed_in', { known_device: device !== undefined });
    return { outcome: 'signed in', user, session };
  });
}

/** Counts an attempt at an account from an address, before it is known how it ends: so a hundred at once are counted. */
function takeBoth(services: SignInServices, account: string, source: Source, userId?: UserId): Promise<number> {
  const { engine, now, signInLimit: limit } = services;
  const { address, limitKey } = source;
  if (!limit) return Promise.resolve(0);
  return engine.write(async (tx) => {
    const at = now();
    const fromAddress = await takeAttempt(tx, `address ${limitKey}`, forAddress(limit), at);
    const atAccount = fromAddress > 0 ? 0 : await takeAttempt(tx, account, limit, at);
    if (fromAddress === 0 && atAccount === 0) return 0;
    // By what slows it down: with made-up names there would be a line for each.
    const told = fromAddress > 0 ? `address ${limitKey}` : account;
    if ((await takeAttempt(tx, `told of ${told}`, oncePerMinute, at)) === 0) {
      await record(tx, at, { userId: userId ?? null, appId: 0, address }, 'sign_in_throttled');
    }
    return Math.max(fromAddress, atAccount);
  });
}

async function giveBack(tx: Tx, { signInLimit: limit }: SignInServices, account: string, limitKey: string) {
  if (!limit) return;
  await clearThrottle(tx, account);
  await returnAttempt(tx, `address ${limitKey}`, forAddress(limit));
}

export const forAddress = ({ burst, everyMs }: Throttle): Throttle => ({
  burst: burst * addressShare,
  everyMs: Math.ceil(everyMs / addressShare),
});
