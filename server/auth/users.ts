import { invalidField, ParleyError, type UserId } from '@parley/contract';
import { skeletons } from '../domain/look-alike.ts';
import { fold } from '../domain/words.ts';
import { activeUsers, insertUser, listAdmins, type NewUser, type UserRow } from '../store/access/users.ts';
import type { Db, Tx } from '../store/engine/engine.ts';

/** They sound like the service itself, or like everybody in a chat. */
const reservedNames: ReadonlySet<string> = new Set([
  'admin',
  'root',
  'system',
  'parley',
  'all',
  'here',
  'everyone',
  'channel',
]);

/**
 * Returns the new user. Throws `conflict` if the name is taken. Throws `validation_failed` for a reserved name, unless the user
 * is an administrator or the operator chose it, and for a name or display name that looks like that of an administrator.
 */
export async function createUser(tx: Tx, user: NewUser, { byOperator = false } = {}): Promise<UserRow> {
  if (!user.isAdmin && !byOperator && reservedNames.has(fold(user.name))) throw invalidField('name', 'is reserved');
  const created = await insertUser(tx, user);
  if (!created) {
    const details = [{ field: 'name', message: 'is taken: choose another' }];
    throw new ParleyError('conflict', `The name ${user.name} is taken.`, details);
  }
  if (!byOperator) {
    const ownerId = created.owner_id ?? created.user_id;
    await requireOwnLook(tx, user.displayName, ownerId);
    await requireOwnLook(tx, user.name, ownerId, 'name');
  }
  return created;
}

/** Look-alikes that are named. */
const maxLookAlikes = 10;

/**
 * Returns the names of users who look like an administrator already, at most ten. New ones are refused, but these were there
 * before. For the audit log, when somebody becomes an administrator. Reads all users.
 */
export async function lookAlikesOf(
  db: Db,
  admin: { readonly name: string; readonly display_name: string; readonly user_id?: UserId },
): Promise<string[]> {
  const looks = new Set([...skeletons(admin.name), ...skeletons(admin.display_name)]);
  const isAlike = (name: string) => skeletons(name).some((look) => looks.has(look));
  const found: string[] = [];
  for (let after = 0; found.length < maxLookAlikes; ) {
    const page = await activeUsers(db, after);
    for (const { user_id, owner_id, name, display_name } of page) {
      const isOther = name !== admin.name && (owner_id ?? user_id) !== admin.user_id;
      if (isOther && (isAlike(name) || isAlike(display_name))) found.push(name);
    }
    const last = page.at(-1);
    if (!last) break;
    after = last.user_id;
  }
  return found.slice(0, maxLookAlikes);
}

/**
 * Throws `validation_failed` if a display name looks like the name of an administrator. `ownerId` is the person behind the
 * user, who may look like themselves.
 */
export async function requireOwnLook(
  db: Db,
  displayName: string,
  ownerId?: UserId,
  field = 'display_name',
): Promise<void> {
  const looks = skeletons(displayName);
  const others = (await listAdmins(db)).filter(({ user_id }) => user_id !== ownerId);
  const isAlike = (name: string) => skeletons(name).some((look) => looks.includes(look));
  if (others.some(({ name, display_name }) => isAlike(name) || isAlike(display_name))) {
    throw invalidField(field, 'looks like the name of an administrator: choose another');
  }
}
