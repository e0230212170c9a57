import { type ChatId, ParleyError, type UserId } from '@parley/contract';
import { type Actor, record, type UserActor } from '../auth/audit.ts';
import { accessBot } from '../auth/bots.ts';
import type { Caller } from '../auth/caller.ts';
import { requireRecentPassword } from '../auth/recent-password.ts';
import { createUser, lookAlikesOf } from '../auth/users.ts';
import { joinWelcomeChat } from '../auth/welcome.ts';
import { deleteLinks, deleteLinksBy } from '../store/access/links.ts';
import { findToken, lockTokensOf, revokeTokensOf } from '../store/access/tokens.ts';
import {
  countAdmins,
  disableUser,
  enableUser,
  findUser,
  findUsers,
  listBots,
  listUsers,
  searchUsers,
  setAdmin,
  type UserRow,
} from '../store/access/users.ts';
import { deleteHooksOf } from '../store/chat/hooks.ts';
import { chatsOwnedBy, findSuccessor, updateRole } from '../store/chat/members.ts';
import type { Tx } from '../store/engine/engine.ts';
import { appendOne } from '../store/log/events.ts';
import { endWithoutAccess } from '../store/webhooks/webhook-ends.ts';
import { actorOf, change, type Handlers, type Services } from './operation.ts';
import * as present from './present.ts';

const known = (user: UserRow | undefined): UserRow => {
  if (!user) throw new ParleyError('not_found', 'There is no such user.');
  return user;
};

export const userHandlers = (services: Services) => {
  const shown = (row: UserRow) => present.user(row, services.avatarUrl);
  return {
    'users.me': async ({ caller }) => ({ user: shown(known(await findUser(services.engine, caller.userId))) }),

    'users.get': async ({ input: { user_id, user_ids = [] } }) =>
      user_id === undefined
        ? { users: (await findUsers(services.engine, user_ids)).map(shown) }
        : { user: shown(known(await findUser(services.engine, user_id))) },

    'users.search': async ({ input: { query, after_id, limit } }) => {
      const found = await searchUsers(services.engine, query, after_id, limit + 1);
      const { rows, has_more } = present.page(found, limit);
      return { users: rows.map(shown), has_more };
    },

    'users.create': async (call) => {
      const { name, display_name: displayName = name, is_admin: isAdmin, password } = call.input;
      if (isAdmin) requireRecentPassword(call.caller, services.now(), '/admin/users/new');
      // Before the transaction, because hashing is slow on purpose, and many users take long to read.
      const lookAlikes = isAdmin ? await lookAlikesOf(services.engine, { name, display_name: displayName }) : [];
      const passwordHash = password === undefined ? null : await services.passwords.hash(password);
      const create = change<'users.create'>(services, async (tx, at) => {
        await requireStillAdministrator(tx, call.caller);
        const created = await createUser(tx, { name, displayName, isAdmin, passwordHash, at });
        const details = { user_id: created.user_id, name, is_admin: isAdmin, ...named(lookAlikes) };
        await joinWelcomeChat(tx, created.user_id, at);
        await record(tx, at, actorOf(call), 'user_created', details);
        return { user: shown(created) };
      });
      return create(call);
    },

    'users.disable': async (call) => {
      const { user, bots } = await services.engine.write(async (tx) => {
        await tx.lockKeys(['administrators']);
        await requireStillAdministrator(tx, call.caller);
        const user = known(await findUser(tx, call.input.user_id));
        if (user.disabled_at !== null) return { user, bots: [] };
        if (user.is_admin && (await countAdmins(tx)) === 1) {
          throw new ParleyError('conflict', 'The last administrator cannot be disabled.');
        }
        return disable(tx, actorOf(call), user, services.now());
      });
      await services.ended(user.user_id, ...bots);
      return { user: shown(user) };
    },

    'users.enable': async (call) => {
      const userId = call.input.user_id;
      const { is_admin } = known(await findUser(services.engine, userId));
      // Whoever enables an administrator gives access to everything.
      if (is_admin) requireRecentPassword(call.caller, services.now(), `/admin/users/${userId}`);
      await enableOneUser(services, actorOf(call), userId, (tx) => requireStillAdministrator(tx, call.caller));
      return { user: shown(known(await findUser(services.engine, userId))) };
    },

    'users.list': async ({ input: { query, after_id, limit } }) => {
      const { rows, has_more } = present.page(await listUsers(services.engine, after_id, limit + 1, query), limit);
      return { users: rows.map(shown), has_more };
    },
  } satisfies Partial<Handlers>;
};

/** Checks the caller again in the transaction: another process may have ended their access or rights a moment ago. */
export async function requireStillAdministrator(tx: Tx, { userId, tokenId }: Caller): Promise<void> {
  const token = await findToken(tx, userId, tokenId);
  const user = await findUser(tx, userId);
  if (!token || user?.disabled_at !== null) throw new ParleyError('unauthorized', 'Your access has just been ended.');
  if (!user.is_admin) throw new ParleyError('forbidden', 'Only an administrator may do this.');
}

/** Disables a bot of its owner, who need not be an administrator. */
export async function disableBot(services: Services, owner: UserActor, botId: UserId): Promise<void> {
  await services.engine.write(async (tx) => {
    await disable(tx, owner, await accessBot(tx, owner.userId, botId), services.now());
  });
  await services.ended(botId);
}

/** Disables a user and their bots, which would have no owner left. Returns the ids of the bots too. */
export async function disable(
  tx: Tx,
  actor: UserActor,
  user: UserRow,
  at: number,
): Promise<{ user: UserRow; bots: UserId[] }> {
  const bots = await listBots(tx, user.user_id);
  const ending = [user, ...bots].sort((a, b) => a.user_id - b.user_id);
  const userIds = ending.map(({ user_id }) => user_id);
  await lockTokensOf(tx, ...userIds);
  for (const { user_id, name } of ending) {
    await disableUser(tx, user_id, at);
    await revokeTokensOf(tx, user_id, at);
    await deleteLinks(tx, 'password', user_id);
    await deleteLinksBy(tx, user_id);
    await deleteHooksOf(tx, user_id);
    await record(tx, at, actor, 'user_disabled', { user_id, name });
  }
  // For all users: what others granted to an app ends when its owner is disabled.
  await endWithoutAccess(tx, at);
  await passOnChats(tx, userIds, actor, at);
  return { user: { ...user, disabled_at: at }, bots: bots.map(({ user_id }) => user_id) };
}

/** Enables a disabled user. Ended tokens, grants and bots stay ended. */
async function enableOneUser(
  services: Services,
  actor: Actor,
  userId: UserId,
  requireAllowed: (tx: Tx) => Promise<void>,
): Promise<void> {
  await services.engine.write(async (tx) => {
    await requireAllowed(tx);
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

/** Names the users in the audit log who look like a new administrator. */
const named = (lookAlikes: readonly string[]) => (lookAlikes.length > 0 ? { look_alikes: lookAlikes } : {});

/** Makes a person an administrator, or no longer one. The audit log names those who look like them. */
export async function changeAdministrator(
  services: Services,
  actor: Actor,
  userId: UserId,
  isAdmin: boolean,
): Promise<void> {
  const lookAlikes = isAdmin ? await lookAlikesOf(services.engine, known(await findUser(services.engine, userId))) : [];
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
    await record(tx, at, actor, 'administrator_changed', { user_id: userId, is_admin: isAdmin, ...named(lookAlikes) });
  });
  await services.ended(userId);
}

/** Gives chats that only these users owned to their next participant. Locks all of them before it writes an event. */
async function passOnChats(tx: Tx, userIds: readonly UserId[], actor: UserActor, at: number): Promise<void> {
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
