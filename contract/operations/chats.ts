import { z } from 'zod';
import {
  afterId,
  chatId,
  description,
  hasMore,
  pageLimit,
  searchText,
  timeInput,
  title,
  userId,
  userIds,
} from '../fields.ts';
import type { Limits } from '../limits.ts';
import { get, post } from '../operation.ts';
import { chat, notify, participant, role, visibility } from '../records.ts';

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
  last_message: {
    message_id: 3,
    user_id: 3,
    name: 'cleo',
    display_name: 'Cleo',
    content: 'The launch is on Friday',
    file: null,
    created_at: at,
  },
  peer: null,
  pins: [],
  role: 'owner' as const,
  last_read_id: null,
  unread_count: 2,
  mention_count: 1,
  notify: 'all' as const,
  muted_until: null,
  archived: false,
  pinned: false,
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
  last_message: null,
  last_read_id: null,
  unread_count: 0,
  mention_count: 0,
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

/** A moment of the log and a place in the list. Clients treat it as opaque. */
const activityCursor = z
  .string()
  .regex(/^\d{1,15}(\.\d{1,15}){3}$/, 'must be `next` of a page')
  .meta({ description: 'the cursor of a page by activity: `next` of the page before' });

interface Ordering {
  readonly order: 'id' | 'activity';
  readonly after_id: number;
  readonly after?: string | undefined;
  readonly archived: boolean;
  readonly pinned: boolean;
}

/** Returns the fields that the order does not use. */
function misplaced({ order, after_id, after, archived, pinned }: Ordering) {
  const given = { after_id: after_id > 0, after: after !== undefined, archived, pinned };
  const unused = order === 'id' ? (['after', 'archived', 'pinned'] as const) : (['after_id'] as const);
  return unused.filter((field) => given[field]);
}

export const chats = (limits: Limits) => {
  const limit = pageLimit(limits.page);

  return {
    list: get(['chats:read'], {
      summary:
        'List your chats, or the public channels that anyone may join; `query` narrows by name. By `id` pages follow each other with `after_id`, by `activity` with `after`.',
      input: z
        .strictObject({
          scope: z.enum(['mine', 'public']).default('mine').meta({ description: 'your chats, or all public channels' }),
          query: searchText.optional(),
          limit,
          after_id: afterId,
          order: z.enum(['id', 'activity']).default('id').meta({
            description: '`activity`: your chats with the newest messages first, without those that you have archived',
          }),
          after: activityCursor.optional(),
          archived: z.boolean().default(false).meta({ description: 'the archived chats instead, by activity' }),
          pinned: z.boolean().default(false).meta({ description: 'only the chats that you have pinned, by activity' }),
        })
        .check(({ value, issues }) => {
          for (const field of misplaced(value)) {
            const only = field === 'after_id' ? 'id' : 'activity';
            issues.push({
              code: 'custom',
              path: [field],
              message: `goes only with order=${only}`,
              input: value[field],
            });
          }
          if (value.order === 'activity' && value.scope === 'public') {
            issues.push({ code: 'custom', path: ['scope'], message: 'must be mine by activity', input: value.scope });
          }
        }),
      output: z.object({
        chats: z.array(chat),
        has_more: hasMore,
        event_id: z.int().nonnegative().meta({
          description: 'the list has all events up to this one: follow the log after it',
        }),
        next: activityCursor.nullable().optional().meta({
          description: 'by activity: `after` of the next page, which shows the same moment; null at the end',
        }),
      }),
      example: {
        input: { scope: 'public', query: 'rand' },
        output: { chats: [{ ...random, role: null }], has_more: false, event_id: 9 },
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
    set_preferences: post(['chats:write'], {
      summary: 'Set your own preferences for a chat: notifications, mute, archive, pin. Nobody else sees them.',
      input: z.strictObject({
        chat_id: chatId,
        notify: notify.optional(),
        muted_until: timeInput
          .refine((at) => /^\d/.test(new Date(at).toISOString()), 'must be in the years 0000 to 9999 in UTC')
          .nullable()
          .optional()
          .meta({ description: 'ISO 8601 with `Z` or an offset; null, or a time in the past, ends a mute' }),
        archived: z.boolean().optional(),
        pinned: z.boolean().optional(),
      }),
      output: z.object({ chat }),
      errors: ['not_found', 'forbidden'],
      example: {
        input: { chat_id: 1, notify: 'mentions', pinned: true },
        output: { chat: { ...launch, notify: 'mentions', pinned: true } },
      },
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
