import { ParleyError } from '@parley/contract';
import { insertUser, type NewUser, type UserRow } from '../store/access/users.ts';
import type { Tx } from '../store/engine/engine.ts';

/** Returns the new user. Throws `conflict` if the name is taken. */
export async function createUser(tx: Tx, user: NewUser): Promise<UserRow> {
  const created = await insertUser(tx, user);
  if (created) return created;
  throw new ParleyError('conflict', `The name ${user.name} is taken.`, [{ field: 'name', message: 'is taken' }]);
}
