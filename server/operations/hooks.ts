import { type ChatId, type HookId, type Input, invalidField, ParleyError, type UserId } from '@parley/contract';
import { hashToken, newSecret } from '../auth/access-token.ts';
import { record } from '../auth/audit.ts';
import { accessBot, insertBot } from '../auth/bots.ts';
import { may } from '../domain/policy.ts';
import { listTokens } from '../store/access/tokens.ts';
import { findUser, findUsers } from '../store/access/users.ts';
import { findChat } from '../store/chat/chats.ts';
import {
  countHooksBy,
  countHooksOfChat,
  deleteHook,
  findHook,
  type HookRow,
  hasHooks,
  insertHook,
  listHooksBy,
  listHooksOfChat,
  ownsBot,
} from '../store/chat/hooks.ts';
import type { Db, Tx } from '../store/engine/engine.ts';
import { accessChatTo, lockChatTo } from './access.ts';
import { actorOf, change, type Handlers, type Services } from './operation.ts';
import * as present from './present.ts';
import { disable } from './users.ts';

const maxPerPerson = 100;
const maxPerChat = 100;

export const hookHandlers = (services: Services) =>
  ({
    'hooks.create': change(services, async (tx, at, call) => {
      const { caller, input } = call;
      const actor = actorOf(call);
      await tx.lockKeys([`hooks of ${caller.userId}`]);
      const { chat } = await lockChatTo(tx, 'send', caller.userId, input.chat_id);
      if (chat.type === 'direct') {
        throw new ParleyError('forbidden', 'A direct chat has no incoming webhooks. Create a group for them.');
      }
      await requireFewHooks(tx, caller.userId, input.chat_id);
      const bot = await botFor(tx, services, caller.userId, input, at);
      const secret = newSecret('hook', services.random);
      const hook_id = await insertHook(tx, {
        chat_id: input.chat_id,
        bot_id: bot.user_id,
        owns_bot: input.user_id === undefined || (await ownsBot(tx, bot.user_id)),
        created_by: caller.userId,
        hash: hashToken(secret),
        created_at: at,
      });
      const { name, user_id: bot_id } = bot;
      await record(tx, at, actor, 'hook_created', { hook_id, chat_id: input.chat_id, bot_id, name });
      const row = await findHook(tx, hook_id);
      if (!row) throw new Error('the new hook has no row');
      return { hook: present.hook(row, bot, services.avatarUrl), url: services.hookUrl(secret) };
    }),

    'hooks.list': async ({ caller, input: { chat_id } }) => {
      const { engine } = services;
      if (chat_id !== undefined) await accessChatTo(engine, 'read', caller.userId, chat_id);
      const rows = chat_id === undefined ? listHooksBy(engine, caller.userId) : listHooksOfChat(engine, chat_id);
      return { hooks: await shown(services, await rows) };
    },

    'hooks.revoke': async (call) => {
      const { caller, input } = call;
      const revoke = change<'hooks.revoke'>(services, async (tx, at) => {
        const hook = await accessHook(tx, caller.userId, input.hook_id);
        await deleteHook(tx, hook.hook_id);
        const { hook_id, chat_id, bot_id } = hook;
        const bot = await findUser(tx, bot_id);
        await record(tx, at, actorOf(call), 'hook_revoked', { hook_id, chat_id, bot_id, name: bot?.name });
        const isUnused =
          hook.owns_bot && !(await hasHooks(tx, bot_id)) && (await listTokens(tx, bot_id, at)).length === 0;
        if (isUnused && bot?.disabled_at === null) await disable(tx, actorOf(call), bot, at);
        botId = bot_id;
        return { hook_id };
      });
      let botId: UserId | undefined;
      const result = await revoke(call);
      if (botId !== undefined) await services.ended(botId);
      return result;
    },
  }) satisfies Partial<Handlers>;

async function requireFewHooks(tx: Tx, userId: UserId, chatId: ChatId): Promise<void> {
  if ((await countHooksBy(tx, userId)) >= maxPerPerson) {
    throw new ParleyError('conflict', `You have ${maxPerPerson} incoming webhooks. Revoke one first.`);
  }
  if ((await countHooksOfChat(tx, chatId)) >= maxPerChat) {
    throw new ParleyError('conflict', `This chat has ${maxPerChat} incoming webhooks. Revoke one first.`);
  }
}

/** Returns the bot that a hook posts as: one of the caller's, or a new one. */
function botFor(tx: Tx, services: Services, ownerId: UserId, { name, user_id }: Input<'hooks.create'>, at: number) {
  if (user_id === undefined) {
    if (name === undefined) throw invalidField('name', 'is required, unless user_id is given');
    return insertBot(tx, services, ownerId, name, at);
  }
  if (name !== undefined) throw invalidField('name', 'cannot be given beside user_id');
  return accessBot(tx, ownerId, user_id);
}

/** Returns a hook that the user may revoke: their own, or one of a chat whose participants they manage. */
async function accessHook(tx: Tx, userId: UserId, hookId: HookId): Promise<HookRow> {
  const hook = await findHook(tx, hookId);
  const absent = new ParleyError('not_found', 'There is no such incoming webhook, or you may not see it.');
  if (!hook) throw absent;
  if (hook.created_by === userId) return hook;
  const chat = await findChat(tx, hook.chat_id, userId);
  if (!chat || chat.role === null) throw absent;
  if (may('manage_participants', chat.type, chat.role)) return hook;
  throw new ParleyError('forbidden', 'Only its creator, and the owner and admins of the chat, may revoke it.');
}

async function shown({ engine, avatarUrl }: { engine: Db; avatarUrl: present.AvatarUrl }, rows: readonly HookRow[]) {
  const bots = new Map(
    (
      await findUsers(
        engine,
        rows.map(({ bot_id }) => bot_id),
      )
    ).map((bot) => [bot.user_id, bot]),
  );
  return rows.flatMap((row) => {
    const bot = bots.get(row.bot_id);
    return bot ? present.hook(row, bot, avatarUrl) : [];
  });
}
