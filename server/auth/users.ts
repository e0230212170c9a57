import { invalidField, ParleyError } from '@parley/contract';
import { fold } from '../domain/words.ts';
import { insertUser, type NewUser, type UserRow } from '../store/access/users.ts';
import type { Tx } from '../store/engine/engine.ts';

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
 * is an administrator or the operator chose it.
 */
export async function createUser(tx: Tx, user: NewUser, { byOperator = false } = {}): Promise<UserRow> {
  if (!user.isAdmin && !byOperator && reservedNames.has(fold(user.name))) throw invalidField('name', 'is reserved');
  const created = await insertUser(tx, user);
  if (created) return created;
  throw new ParleyError('conflict', `The name ${user.name} is taken.`, [{ field: 'name', message: 'is taken' }]);
}
