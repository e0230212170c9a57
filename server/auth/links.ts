import { ParleyError, type UserId } from '@parley/contract';
import { deleteLink, deleteLinks, findLink, insertLink, type LinkRow } from '../store/access/links.ts';
import { countAdmins, findUser, type UserRow } from '../store/access/users.ts';
import { hashToken, newSecret } from './access-token.ts';
import { type Actor, record } from './audit.ts';
import type { AccessServices } from './services.ts';

/** Links that work once: to set the service up, to sign up, to choose a new password. */

/** After that, a restart gives another one. */
const setupMs = 7 * 24 * 3_600_000;
const invitationMs = 7 * 24 * 3_600_000;
export const passwordLinkMs = 24 * 3_600_000;

/** Whether a link of this kind can be used now; what it is for. */
export async function checkLink(
  { engine, now }: AccessServices,
  kind: LinkRow['kind'],
  secret: string,
): Promise<LinkRow | undefined> {
  const link = await findLink(engine, kind, hashToken(secret), now());
  if (link?.kind === 'setup' && (await countAdmins(engine)) > 0) return undefined;
  return link;
}

/** Before a password is hashed, which costs: whoever makes links up is not to have it done. */
export async function requireLink(services: AccessServices, kind: LinkRow['kind'], secret: string): Promise<void> {
  if (!(await checkLink(services, kind, secret))) throw linkGone();
}

export const linkGone = () => new ParleyError('not_found', 'This link has been used, withdrawn, or has expired.');

/** A link for whoever is to be the first administrator; undefined where there is one. Its secret is told this once. */
export function createSetupLink({ engine, now, random }: AccessServices): Promise<string | undefined> {
  return engine.write(async (tx) => {
    if ((await countAdmins(tx)) > 0) return undefined;
    const at = now();
    const secret = newSecret('link', random);
    await insertLink(tx, {
      kind: 'setup',
      hash: hashToken(secret),
      note: '',
      user_id: null,
      created_by: null,
      created_at: at,
      expires_at: at + setupMs,
    });
    return secret;
  });
}

/** A link to sign up with. Its secret is told this once. */
export async function createInvitation(
  { engine, now, random }: AccessServices,
  actor: Actor,
  note: string,
): Promise<{ link: LinkRow; secret: string }> {
  const secret = newSecret('link', random);
  const link = await engine.write(async (tx) => {
    const at = now();
    const made = await insertLink(tx, {
      kind: 'invitation',
      hash: hashToken(secret),
      note,
      user_id: null,
      created_by: actor.userId,
      created_at: at,
      expires_at: at + invitationMs,
    });
    await record(tx, at, actor, 'invitation_created', { note });
    return made;
  });
  return { link, secret };
}

export function withdrawInvitation({ engine, now }: AccessServices, actor: Actor, linkId: number): Promise<void> {
  return engine.write(async (tx) => {
    if (!(await deleteLink(tx, 'invitation', linkId))) throw linkGone();
    await record(tx, now(), actor, 'invitation_withdrawn', { invitation_id: linkId });
  });
}

/** A link with which a person can choose a new password. Its secret is told this once; earlier ones end. */
export function createPasswordLink(
  { engine, now, random }: AccessServices,
  actor: Actor,
  userId: UserId,
): Promise<{ secret: string; user: UserRow }> {
  return engine.write(async (tx) => {
    const at = now();
    const user = await findUser(tx, userId);
    if (user?.kind !== 'person' || user.disabled_at !== null) {
      throw new ParleyError('not_found', 'There is no such person, or the account is disabled.');
    }
    await deleteLinks(tx, 'password', userId);
    const secret = newSecret('link', random);
    await insertLink(tx, {
      kind: 'password',
      hash: hashToken(secret),
      note: '',
      user_id: userId,
      created_by: actor.userId,
      created_at: at,
      expires_at: at + passwordLinkMs,
    });
    await record(tx, at, actor, 'password_link_created', { user_id: userId });
    return { secret, user };
  });
}
