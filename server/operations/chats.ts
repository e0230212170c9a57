import { type Chat, type ChatId, invalidField, type MessageId, type UserId } from '@parley/contract';
import { findUsers } from '../store/access/users.ts';
import { type ChatView, updateChat, viewChat } from '../store/chat/chats.ts';
import { lastMessages } from '../store/chat/last-messages.ts';
import type { Db } from '../store/engine/engine.ts';
import { appendOne } from '../store/log/events.ts';
import { accessChat, lockChatTo } from './access.ts';
import { change, type Handlers, type Services } from './operation.ts';
import * as present from './present.ts';

export const chatHandlers = (services: Services) =>
  ({
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
        services.dailyMessages.require(caller.ownerId);
        await updateChat(tx, chat.chat_id, to);
        const data = { chat_id: chat.chat_id, user_id: caller.userId, ...to };
        await appendOne(tx, { event: 'chat_updated', data }, at);
        services.dailyMessages.add(caller.ownerId);
      }
      return { chat: await chatFor(tx, chat.chat_id, caller.userId) };
    }),
  }) satisfies Partial<Handlers>;

/** Returns a chat as a user sees it who may see it. */
export async function chatFor(db: Db, chatId: ChatId, userId: UserId): Promise<Chat> {
  const [chat] = await showChats(db, userId, [await viewOf(db, chatId, userId)]);
  return chat as Chat;
}

/** Returns the view of a chat that exists. */
export async function viewOf(db: Db, chatId: ChatId, userId: UserId): Promise<ChatView> {
  const view = await viewChat(db, chatId, userId);
  if (!view) throw new Error(`chat ${chatId} is gone, and chats are never removed`);
  return view;
}

/** Returns chats as a user sees them. Somebody who may not read a chat sees nothing of its messages. */
export async function showChats(db: Db, userId: UserId, views: readonly ChatView[]): Promise<Chat[]> {
  const last = await lastMessages(
    db,
    views.flatMap(({ role, last_message_id }) => (role === null ? [] : (last_message_id ?? []))),
  );
  const peerIds = views.map(({ direct_key }) => peerIn(direct_key, userId));
  const asked = peerIds.filter((id) => id !== undefined);
  const peers = new Map(asked.length > 0 ? (await findUsers(db, asked)).map((user) => [user.user_id, user]) : []);
  return views.map((view, i) =>
    present.chat(view, last.get(view.last_message_id as MessageId), peers.get(peerIds[i] as UserId)),
  );
}

/** Returns the other side of a direct chat. */
const peerIn = (directKey: string | null, userId: UserId): UserId | undefined =>
  directKey
    ?.split(':')
    .map(Number)
    .find((id) => id !== userId) as UserId | undefined;
