import { z } from 'zod';
import { afterId, chatId, description, hasMore, pageLimit, searchText, title, userId, userIds } from '../fields.ts';
import type { Limits } from '../limits.ts';
import { get, post } from '../operation.ts';
import { chat, participant, role, visibility } from '../records.ts';

const at = '2026-01-01T12:00:00.000Z';
const launch = {
  chat_id: 1,
  type: 'group' as const,
  visibility: 'private' as const,
  name: 'Launch',
  description: '',
  created_by: 1,
  created_at: at,
  participant_count: 3,
  last_message_id: 3,
  role: 'owner' as const,
  unread_count: 2,
};
const random = {
  ...launch,
  chat_id: 4,
  type: 'channel' as const,
  visibility: 'public' as const,
  name: 'Random',
  created_by: 2,
  participant_count: 1,
  last_message_id: null,
  unread_count: 0,
};
const ada = {
  user_id: 1,
  name: 'ada',
  display_name: 'Ada',
  role: 'owner' as const,
  joined_at: at,
  last_read_id: null,
};
const bob = { ...ada, user_id: 2, name: 'bob', display_name: 'Bob', role: 'member' as const };

export const chats = (limits: Limits) => {
  const limit = pageLimit(limits.page);

  return {
    list: get(['chats:read'], {
      summary: 'List your chats, or the public channels that anyone may join; `query` narrows by name.',
      input: z.strictObject({
        scope: z.enum(['mine', 'public']).default('mine').meta({ description: 'your chats, or all public channels' }),
        query: searchText.optional(),
        limit,
        after_id: afterId,
      }),
      output: z.object({ chats: z.array(chat), has_more: hasMore }),
      example: {
        input: { scope: 'public', query: 'rand' },
        output: { chats: [{ ...random, role: null }], has_more: false },
      },
    }),
    get: get(['chats:read'], {
      summary: 'Fetch one chat.',
      input: z.strictObject({ chat_id: chatId }),
      output: z.object({ chat }),
      errors: ['not_found'],
      example: { input: { chat_id: 1 }, output: { chat: launch } },
    }),
    update: post(['chats:write'], {
      summary: 'Change the name, description or, of a channel, the visibility.',
      input: z.strictObject({
        chat_id: chatId,
        name: title.optional(),
        description: description.optional(),
        visibility: visibility.optional().meta({ description: 'of a channel only' }),
      }),
      output: z.object({ chat }),
      errors: ['not_found', 'forbidden'],
      example: { input: { chat_id: 1, name: 'Lift-off' }, output: { chat: { ...launch, name: 'Lift-off' } } },
    }),
    participants: get(['chats:read'], {
      summary: 'List the participants of a chat, by user id.',
      input: z.strictObject({ chat_id: chatId, limit, after_id: afterId }),
      output: z.object({ participants: z.array(participant), has_more: hasMore }),
      errors: ['not_found', 'forbidden'],
      example: { input: { chat_id: 1, limit: 2 }, output: { participants: [ada, bob], has_more: true } },
    }),
    add_participants: post(['chats:write'], {
      summary: 'Add users to a group or channel. Those who are already in it keep their roles.',
      input: z.strictObject({ chat_id: chatId, participants: userIds(limits.participants) }),
      output: z.object({ chat, added: z.array(userId).meta({ description: 'the new participants' }) }),
      errors: ['not_found', 'forbidden'],
      example: {
        input: { chat_id: 2, participants: [2, 3] },
        output: {
          chat: {
            ...random,
            chat_id: 2,
            name: 'Announcements',
            created_by: 1,
            participant_count: 3,
            role: 'owner',
          },
          added: [3],
        },
      },
    }),
    remove_participant: post(['chats:write'], {
      summary: 'Remove a user from a group or channel.',
      input: z.strictObject({ chat_id: chatId, user_id: userId }),
      output: z.object({ chat }),
      errors: ['not_found', 'forbidden'],
      example: { input: { chat_id: 1, user_id: 3 }, output: { chat: { ...launch, participant_count: 2 } } },
    }),
    set_role: post(['chats:write'], {
      summary: 'Make a participant owner, admin or member. A chat keeps at least one owner.',
      input: z.strictObject({ chat_id: chatId, user_id: userId, role }),
      output: z.object({ participant }),
      errors: ['not_found', 'forbidden', 'conflict'],
      example: { input: { chat_id: 1, user_id: 2, role: 'admin' }, output: { participant: { ...bob, role: 'admin' } } },
    }),
    join: post(['chats:write'], {
      summary: 'Join a public channel.',
      input: z.strictObject({ chat_id: chatId }),
      output: z.object({ chat }),
      errors: ['not_found'],
      example: { input: { chat_id: 4 }, output: { chat: { ...random, participant_count: 2, role: 'member' } } },
    }),
    leave: post(['chats:write'], {
      summary: 'Leave a group or channel. The last owner must make another participant owner first.',
      input: z.strictObject({ chat_id: chatId }),
      output: z.object({ chat_id: chatId }),
      errors: ['not_found', 'forbidden', 'conflict'],
      example: { input: { chat_id: 3 }, output: { chat_id: 3 } },
    }),
    typing: post(['messages:write'], {
      summary:
        'Show the others that you are writing a message: their streams get the signal `typing`. Call it while you type; it is sent at most once in 3 seconds, and not in chats of more than 100 participants.',
      input: z.strictObject({ chat_id: chatId }),
      output: z.object({ chat_id: chatId }),
      errors: ['not_found', 'forbidden'],
      example: { input: { chat_id: 1 }, output: { chat_id: 1 } },
    }),
  };
};
