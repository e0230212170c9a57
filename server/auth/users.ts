import { invalidField, ParleyError, type UserId } from '@parley/contract';
import { skeleton } from '../domain/look-alike.ts';
import { fold } from '../domain/words.ts';
import { insertUser, listAdmins, type NewUser, type UserRow } from '../store/access/users.ts';
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
 * is an administrator or the operator chose it, and for a display name that looks like that of an administrator.
 */
export async function createUser(tx: Tx, user: NewUser, { byOperator = false } = {}): Promise<UserRow> {
  if (!user.isAdmin && !byOperator && reservedNames.has(fold(user.name))) throw invalidField('name', 'is reserved');
  if (!byOperator) await requireOwnLook(tx, user.displayName, user.ownerId);
  const created = await insertUser(tx, user);
  if (created) return created;
  throw new ParleyError('conflict', `The name ${user.name} is taken.`, [{ field: 'name', message: 'is taken' }]);
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
  const look = skeleton(displayName);
  if (look === '') return;
  const others = (await listAdmins(db)).filter(({ user_id }) => user_id !== ownerId);
  if (others.some(({ name, display_name }) => skeleton(name) === look || skeleton(display_name) === look)) {
    throw invalidField(field, 'looks like the name of an administrator: choose another');
  }
}
