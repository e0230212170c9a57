import { isDeepStrictEqual } from 'node:util';
import {
  type Chat,
  type ChatId,
  type Input,
  invalidField,
  type MessageId,
  type Output,
  type UserId,
} from '@parley/contract';
import { findUsers } from '../store/access/users.ts';
import { type ActivityPlace, chatsByActivity, currentMoment, type Moment } from '../store/chat/activity.ts';
import { type ChatView, listChats, updateChat, viewChat, viewChats } from '../store/chat/chats.ts';
import { lastMessages } from '../store/chat/last-messages.ts';
import { type Preferences, updatePreferences } from '../store/chat/preferences.ts';
import type { Db } from '../store/engine/engine.ts';
import { appendOne, logTip } from '../store/log/events.ts';
import { accessChat, lockChatTo } from './access.ts';
import { change, type Handlers, type Services } from './operation.ts';
import * as present from './present.ts';

export const chatHandlers = (services: Services) =>
  ({
    'chats.list': async ({ caller: { userId }, input }) => {
      const { engine } = services;
      if (input.order === 'activity') return listByActivity(engine, userId, input);
      // The newest event is read first, so that the list has all events up to it.
      const event_id = await logTip(engine);
      const { scope, query, limit, after_id: afterId } = input;
      const found = await listChats(engine, userId, { scope, query, afterId, limit: limit + 1 });
      const { rows, has_more } = present.page(found, limit);
      return { chats: await showChats(engine, userId, rows), has_more, event_id };
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

    'chats.set_preferences': change(services, async (tx, at, { caller: { userId }, input }) => {
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
        await updatePreferences(tx, chat_id, userId, to);
        const data = { user_id: userId, preferences: { chat_id, ...present.preferences(to) } };
        await appendOne(tx, { event: 'preferences_changed', data }, at);
      }
      return { chat: await chatFor(tx, chat_id, userId) };
    }),
  }) satisfies Partial<Handlers>;

/** The first page fixes the moment. All pages show the order and the messages of that moment. */
async function listByActivity(db: Db, userId: UserId, input: Input<'chats.list'>): Promise<Output<'chats.list'>> {
  const { query, limit, archived, pinned } = input;
  const after = input.after === undefined ? undefined : parseCursor(input.after);
  const moment = after?.moment ?? (await currentMoment(db));
  const asked = { moment, isArchived: archived, onlyPinned: pinned, query, after: after?.place, limit: limit + 1 };
  const { rows, has_more } = present.page(await chatsByActivity(db, userId, asked), limit);
  const views = await viewChats(
    db,
    userId,
    rows.map(({ chat_id }) => chat_id),
    moment.message_id,
  );
  const chats = await showChats(
    db,
    userId,
    rows.flatMap(({ chat_id }) => views.get(chat_id) ?? []),
  );
  const last = rows.at(-1);
  return { chats, has_more, event_id: moment.event_id, next: has_more && last ? cursorAfter(moment, last) : null };
}

const cursorAfter = ({ event_id, message_id }: Moment, { activity, chat_id }: ActivityPlace): string =>
  [event_id, message_id, activity, chat_id].join('.');

/** The contract has checked the form. Any numbers are safe: a list has only chats of the user. */
function parseCursor(cursor: string): { moment: Moment; place: ActivityPlace } {
  const [event_id = 0, message_id = 0, activity = 0, chat_id = 0] = cursor.split('.').map(Number);
  return { moment: { event_id, message_id }, place: { activity, chat_id: chat_id as ChatId } };
}

/** Returns a chat as a user sees it who may see it. */
export async function chatFor(db: Db, chatId: ChatId, userId: UserId): Promise<Chat> {
  const [chat] = await showChats(db, userId, [await viewOf(db, chatId, userId)]);
  return chat as Chat;
}

async function viewOf(db: Db, chatId: ChatId, userId: UserId): Promise<ChatView> {
  const view = await viewChat(db, chatId, userId);
  if (!view) throw new Error(`chat ${chatId} is gone, and chats are never removed`);
  return view;
}

/** Returns chats as a user sees them. Somebody who may not read a chat sees nothing of its messages. */
async function showChats(db: Db, userId: UserId, views: readonly ChatView[]): Promise<Chat[]> {
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
