import { ParleyError } from '@parley/contract';
import { deleteLinks, takeLink } from '../store/access/links.ts';
import { countAdmins, type NewUser, type UserRow } from '../store/access/users.ts';
import type { Tx } from '../store/engine/engine.ts';
import { hashToken } from './access-token.ts';
import { record } from './audit.ts';
import { markDevice } from './device.ts';
import { linkGone, requireLink, type SignUpPolicy } from './links.ts';
import type { SignInServices } from './services.ts';
import { openSession, type Session } from './sessions.ts';
import { networkBudgets, type Source, type Throttled, throttle } from './sign-in.ts';
import { createUser } from './users.ts';
import { joinWelcomeChat } from './welcome.ts';

/** The form of a new account. The caller has validated it. */
export interface NewPerson {
  readonly name: string;
  readonly displayName: string;
  readonly password: string;
}

/** A user who is now signed in. */
export interface Arrival {
  readonly user: UserRow;
  readonly session: Session;
  /** The mark of the browser, for its next sign-in. */
  readonly device: string;
}

/** Creates the first administrator. Only one of several concurrent calls succeeds, also with different links. */
export async function setUp(
  services: SignInServices,
  secret: string,
  person: NewPerson,
  { address, userAgent }: Source,
): Promise<Arrival> {
  await requireLink(services, 'setup', secret);
  const passwordHash = await services.passwords.hash(person.password);
  return services.engine.write(async (tx) => {
    const at = services.now();
    await tx.lockKeys(['administrators']);
    if ((await countAdmins(tx)) > 0 || !(await takeLink(tx, 'setup', hashToken(secret), at))) throw linkGone();
    const arrival = await arrive(tx, services, { ...person, passwordHash, isAdmin: true, at }, userAgent);
    await deleteLinks(tx, 'setup');
    await record(tx, at, actorOf(arrival, address), 'service_set_up');
    return arrival;
  });
}

export type SignUp = ({ readonly outcome: 'signed up' } & Arrival) | Throttled;

/** Creates an account. Failed attempts count too: a network may make as many as to sign in. */
export async function signUp(
  services: SignInServices,
  policy: SignUpPolicy,
  person: NewPerson,
  invitation: string | undefined,
  { address, networks, userAgent }: Source,
): Promise<SignUp> {
  if (policy === 'closed' || (policy === 'invitation' && invitation === undefined)) {
    throw new ParleyError('forbidden', 'You need an invitation to sign up here.');
  }
  if (invitation !== undefined) await requireLink(services, 'invitation', invitation);
  const throttled = await throttle(services, (limit) => networkBudgets('sign-up', networks, limit));
  if (throttled) return throttled;
  const passwordHash = await services.passwords.hash(person.password);
  return services.engine.write(async (tx) => {
    const at = services.now();
    const link = invitation === undefined ? undefined : await takeLink(tx, 'invitation', hashToken(invitation), at);
    if (invitation !== undefined && !link) throw linkGone();
    const arrival = await arrive(tx, services, { ...person, passwordHash, isAdmin: false, at }, userAgent);
    await joinWelcomeChat(tx, arrival.user.user_id, at);
    await record(tx, at, actorOf(arrival, address), 'signed_up', { invited_by: link?.created_by });
    return { outcome: 'signed up', ...arrival };
  });
}

async function arrive(tx: Tx, services: SignInServices, newUser: NewUser, userAgent: string | null): Promise<Arrival> {
  const user = await createUser(tx, newUser);
  const session = await openSession(tx, services, user.user_id, newUser.at, userAgent);
  return { user, session, device: markDevice(services, { ...user, password_hash: newUser.passwordHash }) };
}

const actorOf = ({ user }: Arrival, address: string) => ({ userId: user.user_id, appId: 0, address });
