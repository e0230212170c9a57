import { ParleyError, type UserId } from '@parley/contract';
import type { Tx } from '../store/engine.ts';
import { appendOne } from '../store/events.ts';
import { chatsOwnedBy, findHeir, updateRole } from '../store/members.ts';
import { revokeTokensOf } from '../store/tokens.ts';
import { countAdmins, disableUser, findUser, insertUser, searchUsers, type UserRow } from '../store/users.ts';
import { endWithoutAccess } from '../store/webhook-ends.ts';
import { change, type Handler, type Services } from './operation.ts';
import * as present from './present.ts';

const known = (user: UserRow | undefined): UserRow => {
  if (!user) throw new ParleyError('not_found', 'There is no such user.');
  return user;
};

export function me({ engine }: Services): Handler<'users.me'> {
  return async ({ caller }) => ({ user: present.user(known(await findUser(engine, caller.userId))) });
}

export function getUser({ engine }: Services): Handler<'users.get'> {
  return async ({ input }) => ({ user: present.user(known(await findUser(engine, input.user_id))) });
}

export function searchForUsers({ engine }: Services): Handler<'users.search'> {
  return async ({ input }) => {
    const found = await searchUsers(engine, input.query, input.after_id, input.limit + 1);
    const { rows, has_more } = present.page(found, input.limit);
    return { users: rows.map(present.user), has_more };
  };
}

export function createUser(services: Services): Handler<'users.create'> {
  return async (call) => {
    const { name, display_name, is_admin, password } = call.input;
    // Before the transaction: hashing takes long on purpose, and a transaction keeps others waiting.
    const passwordHash = password === undefined ? null : await services.hashPassword(password);
    return change(services, call, async (tx, at) => {
      const displayName = display_name ?? name;
      const created = await insertUser(tx, { name, displayName, isAdmin: is_admin, passwordHash, at });
      if (!created)
        throw new ParleyError('conflict', `The name ${name} is taken.`, [{ field: 'name', message: 'is taken' }]);
      return { user: present.user(created) };
    });
  };
}

export function disableOneUser(services: Services): Handler<'users.disable'> {
  return async (call) => {
    const answer = await change(services, call, async (tx, at) => {
      await tx.lockKeys(['administrators']);
      const user = known(await findUser(tx, call.input.user_id));
      if (user.disabled_at !== null) return { user: present.user(user) };
      if (user.is_admin === 1 && (await countAdmins(tx)) === 1) {
        throw new ParleyError('conflict', 'The last administrator cannot be disabled.');
      }
      await disableUser(tx, user.user_id, at);
      await revokeTokensOf(tx, user.user_id, at);
      await endWithoutAccess(tx, at, user.user_id);
      await passOnChats(tx, user.user_id, call.caller.userId, at);
      return { user: present.user({ ...user, disabled_at: at }) };
    });
    services.forget({ userId: call.input.user_id });
    await services.webhooks.nudge();
    return answer;
  };
}

/**
 * A chat keeps an owner who can act: where a disabled user was the only one, the next in line takes over. All chats are
 * locked before the first event is written, as everywhere.
 */
async function passOnChats(tx: Tx, userId: UserId, actorId: UserId, at: number): Promise<void> {
  const chatIds = await chatsOwnedBy(tx, userId);
  for (const chatId of chatIds) await tx.lockChat(chatId);
  for (const chat_id of chatIds) {
    const heir = await findHeir(tx, chat_id);
    if (!heir || heir.role === 'owner') continue;
    await updateRole(tx, chat_id, heir.user_id, 'owner');
    const { user_id, role: previous_role } = heir;
    const data = { chat_id, user_id, actor_id: actorId, role: 'owner' as const, previous_role };
    await appendOne(tx, { event: 'role_changed', data }, at);
  }
}
