import { type ChatId, ParleyError, type UserId } from '@parley/contract';
import { type Actor, record } from '../auth/audit.ts';
import { accessBot } from '../auth/bots.ts';
import type { Caller } from '../auth/caller.ts';
import { deleteLinks, deleteLinksBy } from '../store/access/links.ts';
import { findToken, lockTokensOf, revokeTokensOf } from '../store/access/tokens.ts';
import {
  countAdmins,
  disableUser,
  enableUser,
  findUser,
  insertUser,
  listBots,
  searchUsers,
  setAdmin,
  type UserRow,
} from '../store/access/users.ts';
import { chatsOwnedBy, findSuccessor, updateRole } from '../store/chat/members.ts';
import type { Tx } from '../store/engine/engine.ts';
import { appendOne } from '../store/log/events.ts';
import { endWithoutAccess } from '../store/webhooks/webhook-ends.ts';
import { actorOf, change, type Handler, type Services } from './operation.ts';
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

/** Once more, in the transaction: another server may have ended the caller's access, or rights, a moment ago. */
async function requireStillAdministrator(tx: Tx, { userId, tokenId }: Caller): Promise<void> {
  const token = await findToken(tx, userId, tokenId);
  const user = await findUser(tx, userId);
  if (!token || user?.disabled_at !== null) throw new ParleyError('unauthorized', 'Your access has just been ended.');
  if (!user.is_admin) throw new ParleyError('forbidden', 'Only an administrator may do this.');
}

export function createUser(services: Services): Handler<'users.create'> {
  return async (call) => {
    const { name, display_name, is_admin, password } = call.input;
    if (is_admin && call.caller.kind === 'oauth') {
      throw new ParleyError('forbidden', 'An app cannot make administrators: they would outlive what it was granted.');
    }
    // Before the transaction: hashing takes long on purpose, and a transaction keeps others waiting.
    const passwordHash = password === undefined ? null : await services.passwords.hash(password);
    return change(services, call, async (tx, at) => {
      await requireStillAdministrator(tx, call.caller);
      const displayName = display_name ?? name;
      const created = await insertUser(tx, { name, displayName, isAdmin: is_admin, passwordHash, at });
      if (!created)
        throw new ParleyError('conflict', `The name ${name} is taken.`, [{ field: 'name', message: 'is taken' }]);
      await record(tx, at, actorOf(call), 'user_created', { user_id: created.user_id, name, is_admin });
      return { user: present.user(created) };
    });
  };
}

export function disableOneUser(services: Services): Handler<'users.disable'> {
  return async (call) => {
    const { user, alsoEnded } = await services.engine.write(async (tx) => {
      const at = services.now();
      await tx.lockKeys(['administrators']);
      await requireStillAdministrator(tx, call.caller);
      const user = known(await findUser(tx, call.input.user_id));
      if (user.disabled_at !== null) return { user, alsoEnded: [] };
      if (user.is_admin && (await countAdmins(tx)) === 1) {
        throw new ParleyError('conflict', 'The last administrator cannot be disabled.');
      }
      return disable(tx, actorOf(call), user, at);
    });
    await services.ended(user.user_id, ...alsoEnded);
    return { user: present.user(user) };
  };
}

/** What a person may do with a bot of their own, without being an administrator. */
export async function disableBot(services: Services, owner: Actor & { userId: UserId }, botId: UserId): Promise<void> {
  await services.engine.write(async (tx) => {
    await disable(tx, owner, await accessBot(tx, owner.userId, botId), services.now());
  });
  await services.ended(botId);
}

/** Whoever is disabled takes their bots along: nobody is left who would answer for them. */
async function disable(
  tx: Tx,
  actor: Actor & { userId: UserId },
  user: UserRow,
  at: number,
): Promise<{ user: UserRow; alsoEnded: UserId[] }> {
  const bots = await listBots(tx, user.user_id);
  const ending = [user, ...bots].sort((a, b) => a.user_id - b.user_id);
  await lockTokensOf(tx, ...ending.map(({ user_id }) => user_id));
  for (const { user_id, name } of ending) {
    await disableUser(tx, user_id, at);
    await revokeTokensOf(tx, user_id, at);
    await deleteLinks(tx, 'password', user_id);
    await deleteLinksBy(tx, user_id);
    await record(tx, at, actor, 'user_disabled', { user_id, name });
  }
  // Of everybody: what others have allowed an app ends with whoever answers for it.
  await endWithoutAccess(tx, at);
  await passOnChats(
    tx,
    ending.map(({ user_id }) => user_id),
    actor,
    at,
  );
  return { user: { ...user, disabled_at: at }, alsoEnded: bots.map(({ user_id }) => user_id) };
}

/** Lets a disabled person in again. Tokens, grants and bots that ended stay ended. */
export async function enableOneUser(services: Services, actor: Actor, userId: UserId): Promise<void> {
  await services.engine.write(async (tx) => {
    const user = known(await findUser(tx, userId));
    if (user.disabled_at === null) return;
    const owner = user.owner_id === null ? undefined : await findUser(tx, user.owner_id);
    if (owner && owner.disabled_at !== null) {
      throw new ParleyError('conflict', 'The owner of this bot is disabled. Enable the owner first.');
    }
    await enableUser(tx, userId);
    await record(tx, services.now(), actor, 'user_enabled', { user_id: userId, name: user.name });
  });
}

/** Makes a person an administrator, or no longer one. */
export async function changeAdministrator(
  services: Services,
  actor: Actor,
  userId: UserId,
  isAdmin: boolean,
): Promise<void> {
  await services.engine.write(async (tx) => {
    await tx.lockKeys(['administrators']);
    const user = known(await findUser(tx, userId));
    if (user.kind === 'bot') throw new ParleyError('conflict', 'A bot cannot be an administrator.');
    if (user.is_admin === isAdmin) return;
    if (!isAdmin && user.disabled_at === null && (await countAdmins(tx)) === 1) {
      throw new ParleyError('conflict', 'The last administrator cannot step down.');
    }
    const at = services.now();
    await setAdmin(tx, userId, isAdmin);
    if (!isAdmin) {
      await deleteLinksBy(tx, userId);
      await endWithoutAccess(tx, at, userId);
    }
    await record(tx, at, actor, 'administrator_changed', { user_id: userId, is_admin: isAdmin });
  });
  await services.ended(userId);
}

/**
 * A chat keeps an owner who can act: where a disabled user was the only one, the next in line takes over. All chats are
 * locked before the first event is written, as everywhere.
 */
async function passOnChats(
  tx: Tx,
  userIds: readonly UserId[],
  actor: Actor & { userId: UserId },
  at: number,
): Promise<void> {
  const owned = new Set<ChatId>();
  for (const userId of userIds) for (const chatId of await chatsOwnedBy(tx, userId)) owned.add(chatId);
  const chatIds = [...owned].sort((a, b) => a - b);
  for (const chatId of chatIds) await tx.lockChat(chatId);
  for (const chat_id of chatIds) {
    const heir = await findSuccessor(tx, chat_id);
    if (!heir || heir.role === 'owner') continue;
    await updateRole(tx, chat_id, heir.user_id, 'owner');
    const { user_id, role: previous_role } = heir;
    const data = { chat_id, user_id, actor_id: actor.userId, role: 'owner' as const, previous_role };
    await appendOne(tx, { event: 'role_changed', data }, at);
    await record(tx, at, actor, 'role_changed', data);
  }
}
