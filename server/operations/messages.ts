import { invalidField, ParleyError } from '@parley/contract';
import { may, refusals } from '../domain/policy.ts';
import { words } from '../domain/words.ts';
import { appendOne } from '../store/events.ts';
import { buryMessage, pageOfMessages, updateContent } from '../store/messages.ts';
import { searchMessages } from '../store/search.ts';
import { accessChatTo, accessMessage, lockMessage } from './access.ts';
import { change, type Handler, type Services } from './operation.ts';
import * as present from './present.ts';

export function getMessages({ engine }: Services): Handler<'messages.get_messages'> {
  return async ({ caller, input }) => {
    await accessChatTo(engine, 'read', caller.userId, input.chat_id);
    const { rows, more } = await pageOfMessages(engine, input.chat_id, {
      limit: input.limit,
      before: input.before_id,
      after: input.after_id,
    });
    return { messages: await present.pageOfChat(engine, rows, caller.userId), has_more: more };
  };
}

export function getMessage({ engine }: Services): Handler<'messages.get_message'> {
  return async ({ caller, input }) => {
    const { message } = await accessMessage(engine, caller.userId, input.message_id);
    return { message: await present.oneMessage(engine, message, caller.userId) };
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
      if (message.deleted_at !== null) throw new ParleyError('conflict', 'This message has been deleted.');
      if (message.content === input.content) {
        return { message: await present.oneMessage(tx, message, caller.userId) };
      }
      await updateContent(tx, message.message_id, input.content, at);
      const { message_id, chat_id, user_id } = message;
      const data = { message_id, chat_id, user_id, content: input.content, previous_content: message.content };
      await appendOne(tx, { event: 'message_edited', data }, at);
      const edited = { ...message, content: input.content, edited_at: at };
      return { message: await present.oneMessage(tx, edited, caller.userId) };
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
      if (message.deleted_at !== null) return { message: present.message(message, []) };
      await buryMessage(tx, message, at);
      const { message_id, chat_id, user_id } = message;
      const data = { message_id, chat_id, user_id, actor_id: caller.userId };
      await appendOne(tx, { event: 'message_deleted', data }, at);
      return { message: present.message({ ...message, content: '', deleted_at: at }, []) };
    });
}

export function searchInMessages({ engine }: Services): Handler<'messages.search_messages'> {
  return async ({ caller, input }) => {
    const sought = words(input.query);
    if (sought.length === 0) throw invalidField('query', 'must contain a letter, a digit or an emoji');
    if (input.chat_id !== undefined) await accessChatTo(engine, 'read', caller.userId, input.chat_id);
    const found = await searchMessages(engine, {
      userId: caller.userId,
      words: sought,
      chatId: input.chat_id,
      before: input.before_id ?? Number.MAX_SAFE_INTEGER,
      limit: input.limit + 1,
    });
    const { rows, has_more } = present.page(found, input.limit);
    const messages = await Promise.all(rows.map((row) => present.oneMessage(engine, row, caller.userId)));
    return { messages, has_more };
  };
}
