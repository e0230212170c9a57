import { isDeepStrictEqual } from 'node:util';
import { type Preferences, updatePreferences } from '../store/chat/preferences.ts';
import { appendOne } from '../store/log/events.ts';
import { lockChatTo } from './access.ts';
import { chatFor, viewOf } from './chats.ts';
import { change, type Handlers, type Services } from './operation.ts';
import * as present from './present.ts';

export const preferenceHandlers = (services: Services) =>
  ({
    'chats.set_preferences': change(services, async (tx, at, { caller: { userId, ownerId }, input }) => {
      const { chat_id } = input;
      await lockChatTo(tx, 'read', userId, chat_id);
      const before = await viewOf(tx, chat_id, userId);
      const to: Preferences = {
        notify: input.notify ?? before.notify,
        muted_until: input.muted_until === undefined ? before.muted_until : input.muted_until,
        is_archived: input.archived ?? before.is_archived,
        is_pinned: input.pinned ?? before.is_pinned,
      };
      if (!isDeepStrictEqual(present.preferences(to), present.preferences(before))) {
        services.dailyMessages.require(ownerId);
        await updatePreferences(tx, chat_id, userId, to);
        const data = { user_id: userId, preferences: { chat_id, ...present.preferences(to) } };
        await appendOne(tx, { event: 'preferences_changed', data }, at);
        services.dailyMessages.add(ownerId);
      }
      return { chat: await chatFor(tx, chat_id, userId) };
    }),
  }) satisfies Partial<Handlers>;
