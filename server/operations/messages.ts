import { type ChatId, invalidField, ParleyError, type UserId } from '@parley/contract';
import { edited, tombstone } from '../domain/message.ts';
import { may, refusals } from '../domain/policy.ts';
import { words } from '../domain/words.ts';
import { chatsOf } from '../store/chat/members.ts';
import { type MessageRow, pageOfMessages, updateMessage } from '../store/chat/messages.ts';
import { deleteReactionsTo } from '../store/chat/reactions.ts';
import type { Db } from '../store/engine/engine.ts';
import { releaseFile } from '../store/files/files.ts';
import { appendOne } from '../store/log/events.ts';
import { searchMessages } from '../store/search/search.ts';
import { accessChatTo, accessMessage, lockMessage } from './access.ts';
import { NewestPages } from './newest-pages.ts';
import { change, type Handler, type Services } from './operation.ts';
import { PreparedJson } from './prepared-json.ts';
import * as present from './present.ts';

export function getMessages({ engine, files }: Services): Handler<'messages.get_messages'> {
  const newest = new NewestPages();
  return async ({ caller, input }) => {
    const { chat_id, limit, before_id: before, after_id: after } = input;
    const isNewest = before === undefined && after === undefined;
    const kept = isNewest ? newest.get(chat_id, limit) : undefined;
    const since = isNewest ? (kept?.version ?? 0) : undefined;
    const { chat } = await accessChatTo(engine, 'read', caller.userId, chat_id, since);
    if (kept && kept.version === chat.latest_event) return kept.answer;
    const { rows, more } = await pageOfMessages(engine, chat_id, { limit, before, after });
    const messages = await present.renderMessages(engine, rows, caller.userId, files.url);
    const page: PreparedJson<'messages.get_messages'> = new PreparedJson(`"messages":${messages},"has_more":${more}`);
    // Reactions are shown to each reader in their own way.
    if (isNewest && !rows.some((row) => row.has_reactions)) newest.put(chat_id, limit, chat.latest_event, page);
    return page;
  };
}

export function getMessage({ engine, files }: Services): Handler<'messages.get_message'> {
  return async ({ caller, input }) => {
    const { message } = await accessMessage(engine, caller.userId, input.message_id);
    return { message: await present.messageFor(engine, message, caller.userId, files.url) };
  };
}

export function editMessage(services: Services): Handler<'messages.edit_message'> {
  return (call) =>
    change(services, call, async (tx, at) => {
      const { caller, input } = call;
      const { message } = await lockMessage(tx, caller.userId, input.message_id);
      if (message.user_id !== caller.userId) {
        throw new ParleyError('forbidden', 'Only its author may edit a message.');
      }
      if (message.is_deleted) throw new ParleyError('conflict', 'This message has been deleted.');
      const before = present.keptMessage(message);
      if (input.content === '' && !before.file) throw invalidField('content', 'must not be blank');
      if (before.content === input.content)
        return { message: await present.messageFor(tx, message, caller.userId, services.files.url) };
      const after = { ...message, json: JSON.stringify(edited(before, input.content, at)) };
      await updateMessage(tx, message, after);
      const { message_id, chat_id, user_id } = message;
      const data = { message_id, chat_id, user_id, content: input.content, previous_content: before.content };
      await appendOne(tx, { event: 'message_edited', data }, at);
      return { message: await present.messageFor(tx, after, caller.userId, services.files.url) };
    });
}

export function deleteMessage(services: Services): Handler<'messages.delete_message'> {
  return (call) =>
    change(services, call, async (tx, at) => {
      const { caller, input } = call;
      const { message, chat, role } = await lockMessage(tx, caller.userId, input.message_id);
      if (message.user_id !== caller.userId && !may('delete_any', chat.type, role)) {
        throw new ParleyError('forbidden', refusals.delete_any);
      }
      const before = present.keptMessage(message);
      if (message.is_deleted) return { message: present.message(before, services.files.url) };
      const left = tombstone(before, at);
      await updateMessage(tx, message, { ...message, is_deleted: true, file_id: null, json: JSON.stringify(left) });
      await deleteReactionsTo(tx, chat.chat_id, message.message_id);
      const { message_id, chat_id, user_id } = message;
      const data = { message_id, chat_id, user_id, actor_id: caller.userId };
      await appendOne(tx, { event: 'message_deleted', data }, at);
      if (message.file_id !== null) await releaseFile(tx, message.file_id, at);
      return { message: left };
    });
}

/** Chats that are searched at once; between such groups other requests are served. */
const chatsAtOnce = 200;

export function searchInMessages({ engine, files }: Services): Handler<'messages.search_messages'> {
  return async ({ caller, input }) => {
    const { query, chat_id, limit } = input;
    const { userId } = caller;
    const sought = words(query);
    if (sought.length === 0) throw invalidField('query', 'must contain a letter, a digit or an emoji');
    if (sought.length > mostWords) throw invalidField('query', `must have at most ${mostWords} words`);
    const before = input.before_id ?? Number.MAX_SAFE_INTEGER;
    const search = (chatIds: readonly ChatId[]) =>
      searchMessages(engine, { userId, words: sought, chatIds, before, limit: limit + 1 });
    if (chat_id !== undefined) await accessChatTo(engine, 'read', userId, chat_id);
    const found = chat_id === undefined ? await searchEverywhere(engine, userId, search) : await search([chat_id]);
    const { rows, has_more } = present.page(found, limit);
    return new PreparedJson(
      `"messages":${await present.renderMessages(engine, rows, userId, files.url)},"has_more":${has_more}`,
    );
  };
}

/** Words in one search: each costs a look-up in every chat that is searched. */
const mostWords = 20;

async function searchEverywhere(
  db: Db,
  userId: UserId,
  search: (chatIds: readonly ChatId[]) => Promise<MessageRow[]>,
): Promise<MessageRow[]> {
  const found: MessageRow[] = [];
  for (let after = 0; ; await Bun.sleep(0)) {
    const chatIds = await chatsOf(db, userId, after, chatsAtOnce);
    if (chatIds.length > 0) found.push(...(await search(chatIds)));
    if (chatIds.length < chatsAtOnce) return found.sort((a, b) => b.message_id - a.message_id);
    after = chatIds.at(-1) ?? after;
  }
}
