import { mentionsOf } from '../store/chat/mentions.ts';
import { accessChatTo } from './access.ts';
import { messagePage } from './message-pages.ts';
import type { Handlers, Services } from './operation.ts';

export const mentionHandlers = (services: Services) =>
  ({
    'messages.mentions': async ({ caller: { userId }, input: { chat_id: chatId, limit, before_id } }) => {
      const { engine } = services;
      if (chatId !== undefined) await accessChatTo(engine, 'read', userId, chatId);
      const before = before_id ?? Number.MAX_SAFE_INTEGER;
      return messagePage(
        services,
        userId,
        await mentionsOf(engine, { userId, chatId, before, limit: limit + 1 }),
        limit,
      );
    },
  }) satisfies Partial<Handlers>;
