import { type Chat, type ChatId, invalidField, type UserId } from '@parley/contract';
import { listChats, updateChat, viewChat } from '../store/chat/chats.ts';
import type { Db } from '../store/engine/engine.ts';
import { appendOne } from '../store/log/events.ts';
import { accessChat, lockChatTo } from './access.ts';
import { change, type Handler, type Services } from './operation.ts';
import * as present from './present.ts';

export function listOfChats({ engine }: Services): Handler<'chats.list'> {
  return async ({ caller, input }) => {
    const { scope, query, limit, after_id } = input;
    const found = await listChats(engine, caller.userId, { scope, query, afterId: after_id, limit: limit + 1 });
    const { rows, has_more } = present.page(found, limit);
    return { chats: rows.map(present.chat), has_more };
  };
}

export function getChat({ engine }: Services): Handler<'chats.get'> {
  return async ({ caller, input }) => {
    await accessChat(engine, caller.userId, input.chat_id);
    return { chat: await chatFor(engine, input.chat_id, caller.userId) };
  };
}

export function updateOfChat(services: Services): Handler<'chats.update'> {
  return (call) =>
    change(services, call, async (tx, at) => {
      const { caller, input } = call;
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
    });
}

/** A chat that the caller is known to see, as the caller sees it. */
export async function chatFor(db: Db, chatId: ChatId, userId: UserId): Promise<Chat> {
  const view = await viewChat(db, chatId, userId);
  if (!view) throw new Error(`chat ${chatId} is gone, and chats are never removed`);
  return present.chat(view);
}
