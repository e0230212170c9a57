import { type Chat, type ChatId, invalidField, type UserId } from '@parley/contract';
import { listChats, updateChat, viewChat } from '../store/chat/chats.ts';
import type { Db } from '../store/engine/engine.ts';
import { appendOne } from '../store/log/events.ts';
import { accessChat, lockChatTo } from './access.ts';
import { change, type Handlers, type Services } from './operation.ts';
import * as present from './present.ts';

export const chatHandlers = (services: Services) =>
  ({
    'chats.list': async ({ caller, input: { scope, query, limit, after_id: afterId } }) => {
      const found = await listChats(services.engine, caller.userId, { scope, query, afterId, limit: limit + 1 });
      const { rows, has_more } = present.page(found, limit);
      return { chats: rows.map(present.chat), has_more };
    },

    'chats.get': async ({ caller, input }) => {
      await accessChat(services.engine, caller.userId, input.chat_id);
      return { chat: await chatFor(services.engine, input.chat_id, caller.userId) };
    },

    'chats.update': change(services, async (tx, at, { caller, input }) => {
      const { chat } = await lockChatTo(tx, 'update', caller.userId, input.chat_id);
      if (input.visibility === 'public' && chat.type !== 'channel') {
        throw invalidField('visibility', 'can be public for a channel only');
      }
      const to = {
        name: input.name ?? chat.name ?? '',
        description: input.description ?? chat.description,
        visibility: input.visibility ?? chat.visibility,
      };
      if (to.name !== chat.name || to.description !== chat.description || to.visibility !== chat.visibility) {
        await updateChat(tx, chat.chat_id, to);
        const data = { chat_id: chat.chat_id, user_id: caller.userId, ...to };
        await appendOne(tx, { event: 'chat_updated', data }, at);
      }
      return { chat: await chatFor(tx, chat.chat_id, caller.userId) };
    }),
  }) satisfies Partial<Handlers>;

/** Returns a chat as a user sees it who may see it. */
export async function chatFor(db: Db, chatId: ChatId, userId: UserId): Promise<Chat> {
  const view = await viewChat(db, chatId, userId);
  if (!view) throw new Error(`chat ${chatId} is gone, and chats are never removed`);
  return present.chat(view);
}
