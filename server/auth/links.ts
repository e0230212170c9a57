import { ParleyError, type UserId } from '@parley/contract';
import { deleteLink, deleteLinks, findLink, insertLink, type LinkKind, type LinkRow } from '../store/access/links.ts';
import { countAdmins, findUser, type UserRow } from '../store/access/users.ts';
import type { Tx } from '../store/engine/engine.ts';
import { hashToken, newSecret } from './access-token.ts';
import { type Actor, operator, record } from './audit.ts';
import type { AccessServices } from './services.ts';

export const passwordLinkMs = 24 * 3_600_000;

/** Links work once: to set up the service, to sign up, or to choose a new password. A restart makes a new setup link. */
const lifetimesMs: Readonly<Record<LinkKind, number>> = {
  setup: 7 * 24 * 3_600_000,
  invitation: 7 * 24 * 3_600_000,
  password: passwordLinkMs,
};

export type SignUpPolicy = 'open' | 'invitation' | 'closed';

/** Throws if the caller may not do it any more. */
type Check = (tx: Tx) => Promise<void>;

const closedHint = 'Nobody can sign up here, not even with an invitation. Administrators create users.';

/** Returns a link that can be used now, or undefined. */
export async function checkLink(
  { engine, now }: AccessServices,
  kind: LinkKind,
  secret: string,
): Promise<LinkRow | undefined> {
  const link = await findLink(engine, kind, hashToken(secret), now());
  if (link?.kind === 'setup' && (await countAdmins(engine)) > 0) return undefined;
  return link;
}

/** Throws if the link cannot be used. Comes before a password is hashed, which is expensive. */
export async function requireLink(services: AccessServices, kind: LinkKind, secret: string): Promise<void> {
  if (!(await checkLink(services, kind, secret))) throw linkGone();
}

export const linkGone = () => new ParleyError('not_found', 'This link has been used, withdrawn, or has expired.');

/** Creates a link. Returns its secret too, which is not stored. */
async function createLink(
  tx: Tx,
  { random, now }: AccessServices,
  kind: LinkKind,
  actor: Actor,
  { note = '', userId = null }: { note?: string; userId?: UserId | null } = {},
): Promise<{ link: LinkRow; secret: string; at: number }> {
  const at = now();
  const secret = newSecret('link', random);
  const link = await insertLink(tx, {
    kind,
    hash: hashToken(secret),
    note,
    user_id: userId,
    created_by: actor.userId,
    created_at: at,
    expires_at: at + lifetimesMs[kind],
  });
  return { link, secret, at };
}

/** Returns the secret of a link for the first administrator, or undefined if there is an administrator. */
export function createSetupLink(services: AccessServices): Promise<string | undefined> {
  return services.engine.write(async (tx) => {
    if ((await countAdmins(tx)) > 0) return undefined;
    return (await createLink(tx, services, 'setup', operator)).secret;
  });
}

export async function createInvitation(
  services: AccessServices,
  policy: SignUpPolicy,
  actor: Actor,
  note: string,
  requireAllowed: Check = async () => {},
): Promise<{ link: LinkRow; secret: string }> {
  if (policy === 'closed') throw new ParleyError('conflict', closedHint);
  return services.engine.write(async (tx) => {
    await requireAllowed(tx);
    const created = await createLink(tx, services, 'invitation', actor, { note });
    await record(tx, created.at, actor, 'invitation_created', { note });
    return created;
  });
}

export function withdrawInvitation(
  { engine, now }: AccessServices,
  actor: Actor,
  linkId: number,
  requireAllowed: Check = async () => {},
): Promise<void> {
  return engine.write(async (tx) => {
    await requireAllowed(tx);
    if (!(await deleteLink(tx, 'invitation', linkId))) throw linkGone();
    await record(tx, now(), actor, 'invitation_withdrawn', { invitation_id: linkId });
  });
}

/** Returns the secret of a link for choosing a new password. Earlier links of the user end. */
export function createPasswordLink(
  services: AccessServices,
  actor: Actor,
  userId: UserId,
): Promise<{ secret: string; user: UserRow }> {
  return services.engine.write(async (tx) => {
    const user = await findUser(tx, userId);
    if (user?.kind !== 'person' || user.disabled_at !== null) {
      throw new ParleyError('not_found', 'There is no such person, or the account is disabled.');
    }
    await deleteLinks(tx, 'password', userId);
    const { secret, at } = await createLink(tx, services, 'password', actor, { userId });
    await record(tx, at, actor, 'password_link_created', { user_id: userId });
    return { secret, user };
  });
}
