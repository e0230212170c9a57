import { type ChatId, type EventId, invalidField, type MessageId, ParleyError } from '@parley/contract';
import { LRUCache } from 'lru-cache';
import { edited, filesOf, tombstone } from '../domain/message.ts';
import { may, refusals } from '../domain/policy.ts';
import { words } from '../domain/words.ts';
import { chatsOf } from '../store/chat/members.ts';
import { deleteMentions, findMentions, insertMentions } from '../store/chat/mentions.ts';
import {
  allTextsOf,
  findMessage,
  type MessageRow,
  type Page,
  pageAround,
  pageOfMessages,
  updateMessage,
} from '../store/chat/messages.ts';
import { removePin } from '../store/chat/pins.ts';
import { deleteReactionsTo } from '../store/chat/reactions.ts';
import { deleteReply, pageOfReplies } from '../store/chat/threads.ts';
import type { Db } from '../store/engine/engine.ts';
import { releaseFile } from '../store/files/files.ts';
import { deleteMoreFiles } from '../store/files/message-files.ts';
import { appendOne } from '../store/log/events.ts';
import { searchAllChats, searchMessages } from '../store/search/search.ts';
import type { WordQuery } from '../store/search/search-query.ts';
import { accessChatTo, accessMessage, lockMessage, noMessage } from './access.ts';
import { messagePage } from './message-pages.ts';
import { type Call, change, type Handler, type Handlers, type Services } from './operation.ts';
import * as present from './present.ts';
import { PreparedJson } from './results.ts';

type Shown = PreparedJson<'messages.get_messages'>;

/**
 * Caches the newest page of each chat, because everyone in a chat requests it after every message. A page is valid while the
 * chat's newest event is `version`. That is read from the database each time, so a page is never stale, also if another
 * process writes. Finding a page takes 3 µs, making one 25.
 */
function getMessages({ engine, files }: Services): Handler<'messages.get_messages'> {
  // Sizes are in characters.
  const pages = new LRUCache<string, { version: EventId; page: Shown }>({
    maxSize: 8_000_000,
    sizeCalculation: ({ page }) => page.body.length + 200,
  });
  return async ({ caller, input }) => {
    const { chat_id, thread_id, limit, before_id: before, after_id: after, around_id: around } = input;
    const key = (before ?? after ?? around ?? thread_id) === undefined ? `${chat_id} ${limit}` : undefined;
    const cached = key === undefined ? undefined : pages.get(key);
    const since = key === undefined ? undefined : (cached?.version ?? 0);
    const { chat } = await accessChatTo(engine, 'read', caller.userId, chat_id, since);
    const version = chat.latest_event;
    if (cached && cached.version === version) return cached.page;
    const page = { limit, before, after };
    const { texts, more } =
      around !== undefined
        ? await pageAround(engine, chat_id, around, limit)
        : thread_id !== undefined
          ? await pageOfThread(engine, chat_id, thread_id, page)
          : await pageOfMessages(engine, chat_id, page);
    const { messages, isShared } = await present.renderMessages(engine, texts, caller.userId, files.url);
    const shown: Shown = new PreparedJson(`"messages":${messages},"has_more":${more}`);
    if (isShared && key !== undefined && version !== null) pages.set(key, { version, page: shown });
    return shown;
  };
}

/** Returns a page of the replies in the thread of a message. Throws `not_found` if the chat has no such message. */
async function pageOfThread(db: Db, chatId: ChatId, messageId: MessageId, page: Page) {
  const message = await findMessage(db, messageId);
  if (message?.chat_id !== chatId) throw noMessage();
  const { ids, more } = await pageOfReplies(db, present.keptMessage(message).thread_id ?? messageId, page);
  return { texts: await allTextsOf(db, ids), more };
}

/** A user with more chats searches all at once if that is possible. */
const fewChats = 16;

/** Each word costs a lookup in every chat that is searched. */
const maxWords = 20;

/**
 * Lookups before other requests are served. In chats with the words, each takes SQLite 7 to 30 µs of the thread that serves
 * requests. PostgreSQL uses a process of its own.
 */
const maxLookups = { sqlite: 300, postgres: 1_000 } as const;

/** A search counts as one more request for so many lookups. */
const lookupsPerRequest = 100;

export const messageHandlers = (services: Services) =>
  ({
    'messages.get_messages': getMessages(services),

    'messages.get_message': async ({ caller, input }) => {
      const { message } = await accessMessage(services.engine, caller.userId, input.message_id);
      return {
        message: await present.messageFor(services.engine, message, caller.userId, services.files.url),
        link: services.messageLink(input.message_id),
      };
    },

    // An edit takes as much space as a message: its event has both texts. The event comes first, because sends change rows
    // of messages under the event lock.
    'messages.edit_message': change(
      services,
      async (tx, at, { caller: { userId, ownerId }, input: { message_id, content } }) => {
        services.dailyMessages.require(ownerId);
        const { message } = await lockMessage(tx, userId, message_id);
        if (message.user_id !== userId) throw new ParleyError('forbidden', 'Only its author may edit a message.');
        if (message.is_deleted) throw new ParleyError('conflict', 'This message has been deleted.');
        const before = present.keptMessage(message);
        if (content === '' && !before.file) throw invalidField('content', 'must not be blank');
        const show = async (row: MessageRow) => ({
          message: await present.messageFor(tx, row, userId, services.files.url),
        });
        if (before.content === content) return show(message);
        const { chat_id, user_id } = message;
        const said = { message_id, chat_id, user_id, content };
        const mentions = (await findMentions(tx, [said])).get(said);
        const previous = {
          previous_content: before.content,
          ...(before.mentions && { previous_mentions: before.mentions }),
          ...(before.mentions_all && { previous_mentions_all: true }),
        };
        const data = { ...said, ...mentions, ...previous };
        await appendOne(tx, { event: 'message_edited', data }, at);
        const after = { ...message, json: JSON.stringify(edited(before, content, mentions, at)) };
        await updateMessage(tx, message, after);
        await deleteMentions(tx, before);
        await insertMentions(tx, [{ ...said, ...mentions }]);
        services.dailyMessages.add(ownerId);
        return show(after);
      },
    ),

    'messages.delete_message': change(services, async (tx, at, { caller: { userId }, input: { message_id } }) => {
      const { message, chat, role } = await lockMessage(tx, userId, message_id);
      const { chat_id, user_id } = message;
      if (user_id !== userId && !may('delete_any', chat.type, role)) {
        throw new ParleyError('forbidden', refusals.delete_any);
      }
      const before = present.keptMessage(message);
      const show = async (row: MessageRow) => ({
        message: await present.messageFor(tx, row, userId, services.files.url),
      });
      if (message.is_deleted) return show(message);
      const { thread_id, mentions, mentions_all } = before;
      const mentioned = { ...(mentions && { mentions }), ...(mentions_all && { mentions_all }) };
      const data = {
        message_id,
        chat_id,
        user_id,
        actor_id: userId,
        ...mentioned,
        ...(thread_id && { thread_id }),
      };
      await appendOne(tx, { event: 'message_deleted', data }, at);
      const after = { ...message, is_deleted: true, file_id: null, json: JSON.stringify(tombstone(before, at)) };
      await updateMessage(tx, message, after);
      await deleteReactionsTo(tx, chat_id, message_id);
      await removePin(tx, chat_id, message_id);
      await deleteMentions(tx, before);
      if (thread_id) await deleteReply(tx, thread_id, message_id);
      if (before.files) await deleteMoreFiles(tx, message_id);
      for (const { file_id } of filesOf(before)) await releaseFile(tx, file_id, at);
      return show(after);
    }),

    'messages.search_messages': async ({ caller: { userId }, input: { query, chat_id, limit, before_id }, charge }) => {
      const { engine } = services;
      const sought = words(query);
      if (sought.length === 0) throw invalidField('query', 'must contain a letter, a digit or an emoji');
      if (sought.length > maxWords) throw invalidField('query', `must have at most ${maxWords} words`);
      const before = before_id ?? Number.MAX_SAFE_INTEGER;
      const asked = { userId, words: sought, before, limit: limit + 1 };
      if (chat_id !== undefined) await accessChatTo(engine, 'read', userId, chat_id);
      const found =
        chat_id === undefined
          ? await searchEverywhere(engine, asked, charge)
          : await searchMessages(engine, { ...asked, chatIds: [chat_id] });
      return messagePage(services, userId, found, limit);
    },
  }) satisfies Partial<Handlers>;

/** Few chats are looked up one by one: the cost then depends on nothing that others write. */
async function searchEverywhere(
  db: Db,
  q: WordQuery,
  charge: Call<'messages.search_messages'>['charge'],
): Promise<MessageId[]> {
  const found: MessageId[] = [];
  const chatsPerSearch = Math.max(fewChats + 1, Math.floor(maxLookups[db.dialect.name] / q.words.length));
  for (let after = 0; ; await Bun.sleep(0)) {
    const chatIds = await chatsOf(db, q.userId, after, chatsPerSearch);
    const all = after === 0 && chatIds.length > fewChats ? await searchAllChats(db, q) : undefined;
    if (all) return all;
    charge?.(Math.floor((chatIds.length * q.words.length) / lookupsPerRequest));
    if (chatIds.length > 0) found.push(...(await searchMessages(db, { ...q, chatIds })));
    if (chatIds.length < chatsPerSearch) return found.sort((a, b) => b - a);
    after = chatIds.at(-1) ?? after;
  }
}
