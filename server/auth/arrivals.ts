import { ParleyError } from '@parley/contract';
import { deleteLinks, takeLink } from '../store/access/links.ts';
import { takeAttempt } from '../store/access/throttles.ts';
import { countAdmins, insertUser, type UserRow } from '../store/access/users.ts';
import type { Tx } from '../store/engine/engine.ts';
import { hashToken } from './access-token.ts';
import { type Actor, record } from './audit.ts';
import { linkGone, requireLink } from './links.ts';
import type { AccessServices, SignInServices } from './services.ts';
import { openSession, type Session } from './sessions.ts';
import { forAddress, type Source } from './sign-in.ts';

/** How somebody comes to have an account. All input is validated by the caller. */

export interface NewPerson {
  readonly name: string;
  readonly displayName: string;
  readonly password: string;
}

/** Somebody who has just come in, and is signed in with it. */
export interface Arrival {
  readonly user: UserRow;
  readonly session: Session;
}

/** Who may make an account by themselves. */
export type SignUpPolicy = 'open' | 'invitation' | 'closed';

/** The first administrator. Of several who try at once, with one link or more, one succeeds. */
export async function setUp(
  services: AccessServices,
  secret: string,
  person: NewPerson,
  address: string,
): Promise<Arrival> {
  await requireLink(services, 'setup', secret);
  const passwordHash = await services.passwords.hash(person.password);
  return services.engine.write(async (tx) => {
    const at = services.now();
    await tx.lockKeys(['administrators']);
    if ((await countAdmins(tx)) > 0 || !(await takeLink(tx, 'setup', hashToken(secret), at))) throw linkGone();
    const arrival = await arrive(tx, services, { ...person, passwordHash, isAdmin: true }, at);
    await deleteLinks(tx, 'setup');
    await record(tx, at, actorOf(arrival, address), 'service_set_up');
    return arrival;
  });
}

export type SignUp =
  | ({ readonly outcome: 'signed up' } & Arrival)
  | { readonly outcome: 'throttled'; readonly retrySeconds: number };

/** A new account. Whether it comes to one or not, so many attempts are allowed from one address as at signing in. */
export async function signUp(
  services: SignInServices,
  policy: SignUpPolicy,
  person: NewPerson,
  invitation: string | undefined,
  { address, limitKey }: Source,
): Promise<SignUp> {
  if (policy === 'closed' || (policy === 'invitation' && invitation === undefined)) {
    throw new ParleyError('forbidden', 'You need an invitation to sign up here.');
  }
  if (invitation !== undefined) await requireLink(services, 'invitation', invitation);
  const { engine, now, signInLimit } = services;
  if (signInLimit) {
    const wait = await engine.write((tx) => takeAttempt(tx, `sign-up ${limitKey}`, forAddress(signInLimit), now()));
    if (wait > 0) return { outcome: 'throttled', retrySeconds: Math.ceil(wait / 1_000) };
  }
  const passwordHash = await services.passwords.hash(person.password);
  return engine.write(async (tx) => {
    const at = now();
    const link = invitation === undefined ? undefined : await takeLink(tx, 'invitation', hashToken(invitation), at);
    if (invitation !== undefined && !link) throw linkGone();
    const arrival = await arrive(tx, services, { ...person, passwordHash, isAdmin: false }, at);
    await record(tx, at, actorOf(arrival, address), 'signed_up', { invited_by: link?.created_by });
    return { outcome: 'signed up', ...arrival };
  });
}

async function arrive(
  tx: Tx,
  services: AccessServices,
  person: NewPerson & { passwordHash: string; isAdmin: boolean },
  at: number,
): Promise<Arrival> {
  const { name, displayName, passwordHash, isAdmin } = person;
  const user = await insertUser(tx, { name, displayName, isAdmin, passwordHash, at });
  if (!user) throw new ParleyError('conflict', `The name ${name} is taken.`, [{ field: 'name', message: 'is taken' }]);
  return { user, session: await openSession(tx, services, user.user_id, at) };
}

const actorOf = ({ user }: Arrival, address: string): Actor => ({ userId: user.user_id, appId: 0, address });
