import { z } from 'zod';
import {
  afterId,
  chatId,
  count,
  description,
  emoji,
  fileId,
  hasMore,
  messageId,
  pageLimit,
  searchText,
  text,
  title,
  userId,
  userIds,
} from '../fields.ts';
import { fileInput } from '../file-input.ts';
import type { Limits } from '../limits.ts';
import { get, post } from '../operation.ts';
import { chat, message, thread, user, visibility } from '../records.ts';
import { ada } from './users.ts';

const at = '2026-01-01T12:00:00.000Z';
const replies = { reply_count: 1, last_reply_id: 2, last_reply_at: at };
const opening = {
  message_id: 1,
  chat_id: 1,
  user_id: 1,
  content: 'Hello, world',
  reply_to: null,
  file: null,
  reactions: [
    { emoji: '👋', count: 1, reacted: false },
    { emoji: '🎉', count: 1, reacted: true },
  ],
  created_at: at,
  edited_at: null,
  deleted_at: null,
};
const hello = { ...opening, ...replies };
const newest = { ...opening, message_id: 3, user_id: 3, content: 'The launch is on Friday', reactions: [] };
const deletedReply = { ...newest, message_id: 2, user_id: 2, content: '', thread_id: 1, reply_to: 1, deleted_at: at };
const reply = { ...deletedReply, content: 'Hi @ada!', mentions: [1], deleted_at: null };
const newChat = {
  chat_id: 5,
  type: 'group' as const,
  visibility: 'private' as const,
  name: 'Weekend',
  description: '',
  created_by: 1,
  created_at: at,
  participant_count: 3,
  last_message_id: null,
  last_message: null,
  peer: null,
  pins: [],
  role: 'owner' as const,
  last_read_id: null,
  unread_count: 0,
  mention_count: 0,
  notify: 'all' as const,
  muted_until: null,
  archived: false,
  pinned: false,
};

const launch = {
  ...newChat,
  chat_id: 1,
  name: 'Launch',
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
  last_read_id: null,
  unread_count: 2,
  mention_count: 1,
};

export const messages = (limits: Limits) => {
  const content = text({ min: 1, maxBytes: limits.contentBytes, mayBeEmpty: true }).meta({
    description: 'the text, not blank; empty or absent only with a file; the limit is in bytes of UTF-8',
    maxLength: limits.contentBytes,
  });
  const limit = pageLimit(limits.page);
  const beforeId = z.int().positive().optional().meta({ description: 'only messages with a lower id' });
  const fileIds = z
    .array(fileId)
    .min(1)
    .max(10)
    .transform((ids) => [...new Set(ids)])
    .meta({ description: 'files that you have uploaded, in their order, instead of `file`; repeats count once' });
  const participants = userIds(limits.participants).prefault([]);

  return {
    send_message: post(['messages:write'], {
      summary:
        'Send a text, files, or both into a chat. A file is a part of `multipart/form-data`, or was uploaded before and has a `file_id`; it needs the scope `files` too. Several files are uploaded before.',
      idempotent: true,
      input: z
        .strictObject({
          chat_id: chatId,
          content: content.optional(),
          file: fileInput(limits).optional(),
          file_id: fileId.optional().meta({ description: 'a file that you have uploaded, instead of `file`' }),
          file_ids: fileIds.optional(),
          reply_to: messageId.optional().meta({ description: 'a message of the same chat that this one replies to' }),
        })
        .refine(({ file, file_id }) => file === undefined || file_id === undefined, {
          path: ['file_id'],
          message: 'cannot be given beside file',
        })
        .refine(({ file, file_id, file_ids }) => !file_ids || (file === undefined && file_id === undefined), {
          path: ['file_ids'],
          message: 'cannot be given beside file or file_id',
        })
        .refine(({ content, file, file_id, file_ids }) => content || file || file_id || file_ids, {
          path: ['content'],
          message: 'is required, unless a file is sent',
        }),
      output: z.object({ message }),
      errors: ['not_found', 'forbidden', 'conflict', 'idempotency_conflict'],
      example: {
        input: { chat_id: 1, content: 'See you there', reply_to: 3 },
        output: {
          message: { ...newest, message_id: 4, user_id: 1, content: 'See you there', thread_id: 3, reply_to: 3 },
        },
      },
    }),
    get_messages: get(['messages:read'], {
      summary:
        'List the messages of a chat, or of a thread, in ascending order: the newest page, the page before `before_id`, the page after `after_id` (0 starts at the oldest), or the page around `around_id`.',
      input: z
        .strictObject({
          chat_id: chatId,
          thread_id: messageId.optional().meta({
            description:
              'only the replies in the thread of this message, which may be a reply itself; without deleted ones',
          }),
          limit,
          before_id: beforeId,
          after_id: z
            .int()
            .nonnegative()
            .optional()
            .meta({ description: 'only messages with a higher id, from the oldest on' }),
          around_id: z.int().positive().optional().meta({
            description: 'the page with this message in the middle; alone',
          }),
        })
        .refine(
          ({ before_id, after_id, thread_id, around_id }) =>
            around_id === undefined || (before_id ?? after_id ?? thread_id) === undefined,
          {
            path: ['around_id'],
            message: 'cannot be given beside before_id, after_id or thread_id',
          },
        ),
      output: z.object({
        messages: z.array(message),
        has_more: hasMore.meta({ description: 'whether another page follows; around a message: on either side' }),
      }),
      errors: ['not_found', 'forbidden'],
      example: { input: { chat_id: 1, limit: 2, after_id: 0 }, output: { messages: [hello, reply], has_more: true } },
    }),
    get_message: get(['messages:read'], {
      summary: 'Fetch one message, and the link to it.',
      input: z.strictObject({ message_id: messageId }),
      output: z.object({
        message,
        link: z.string().meta({ description: 'a URL for people, which shows the message to participants of its chat' }),
      }),
      errors: ['not_found'],
      example: { input: { message_id: 2 }, output: { message: reply, link: 'http://127.0.0.1:8080/m/2' } },
    }),
    edit_message: post(['messages:write'], {
      summary: 'Change the text of a message of your own.',
      input: z.strictObject({ message_id: messageId, content }),
      output: z.object({ message }),
      errors: ['not_found', 'forbidden', 'conflict'],
      example: {
        input: { message_id: 1, content: 'Hello, everyone' },
        output: { message: { ...hello, content: 'Hello, everyone', edited_at: at } },
      },
    }),
    delete_message: post(['messages:write'], {
      summary: 'Delete a message: your own, or any in a group or channel that you administer. A tombstone stays.',
      input: z.strictObject({ message_id: messageId }),
      output: z.object({ message }),
      errors: ['not_found', 'forbidden'],
      example: { input: { message_id: 2 }, output: { message: deletedReply } },
    }),
    search_messages: get(['messages:read'], {
      summary:
        'Find messages in your chats, newest first: every word must occur, and the last may be the start of a word. A new message can usually be found within a second.',
      input: z.strictObject({
        query: searchText,
        chat_id: chatId.optional().meta({ description: 'only in this chat' }),
        before_id: beforeId,
        limit,
      }),
      output: z.object({ messages: z.array(message), has_more: hasMore }),
      errors: ['not_found', 'forbidden'],
      example: { input: { query: 'launch fri' }, output: { messages: [newest], has_more: false } },
    }),
    mentions: get(['messages:read'], {
      summary:
        'List the messages of others that mention you by `@name` or `@all`, newest first, in the chats that you are in.',
      input: z.strictObject({
        chat_id: chatId.optional().meta({ description: 'only in this chat' }),
        before_id: beforeId,
        limit,
      }),
      output: z.object({ messages: z.array(message), has_more: hasMore }),
      errors: ['not_found', 'forbidden'],
      example: { input: { chat_id: 1 }, output: { messages: [reply], has_more: false } },
    }),
    threads: get(['messages:read'], {
      summary:
        'List the threads in which you have written, the one with the newest reply first, in the chats that you are in.',
      input: z.strictObject({
        before_id: z.int().positive().optional().meta({ description: 'only threads with a lower `last_reply_id`' }),
        limit,
      }),
      output: z.object({ threads: z.array(thread), has_more: hasMore }),
      example: { input: {}, output: { threads: [{ message: hello, ...replies, unread_count: 1 }], has_more: false } },
    }),
    mark_read: post(['messages:write'], {
      summary: 'Move your read marker up to a message, or to the newest one. It never moves back.',
      input: z.strictObject({
        chat_id: chatId,
        message_id: messageId.optional().meta({ description: 'the last message read; the newest by default' }),
      }),
      output: z.object({
        read: z.object({ chat_id: chatId, last_read_id: messageId.nullable(), unread_count: count }),
      }),
      errors: ['not_found', 'forbidden'],
      example: {
        input: { chat_id: 1, message_id: 2 },
        output: { read: { chat_id: 1, last_read_id: 2, unread_count: 1 } },
      },
    }),
    add_reaction: post(['messages:write'], {
      summary: 'React to a message.',
      input: z.strictObject({ message_id: messageId, emoji }),
      output: z.object({ message }),
      errors: ['not_found', 'conflict'],
      example: {
        input: { message_id: 1, emoji: '👋' },
        output: {
          message: {
            ...hello,
            reactions: [
              { emoji: '👋', count: 2, reacted: true },
              { emoji: '🎉', count: 1, reacted: true },
            ],
          },
        },
      },
    }),
    remove_reaction: post(['messages:write'], {
      summary: 'Take your reaction back.',
      input: z.strictObject({ message_id: messageId, emoji }),
      output: z.object({ message }),
      errors: ['not_found'],
      example: {
        input: { message_id: 1, emoji: '🎉' },
        output: { message: { ...hello, reactions: [{ emoji: '👋', count: 1, reacted: false }] } },
      },
    }),
    reactions: get(['messages:read', 'chats:read'], {
      summary: 'List the users who reacted to a message with an emoji, by user id.',
      input: z.strictObject({ message_id: messageId, emoji, limit, after_id: afterId }),
      output: z.object({ users: z.array(user), has_more: hasMore }),
      errors: ['not_found'],
      example: { input: { message_id: 1, emoji: '🎉' }, output: { users: [ada], has_more: false } },
    }),
    pin: post(['messages:write'], {
      summary: 'Pin a message in its chat, for all participants. Those who may post may pin.',
      input: z.strictObject({ message_id: messageId }),
      output: z.object({ chat }),
      errors: ['not_found', 'forbidden', 'conflict'],
      example: { input: { message_id: 1 }, output: { chat: { ...launch, pins: [1] } } },
    }),
    unpin: post(['messages:write'], {
      summary: 'Unpin a message.',
      input: z.strictObject({ message_id: messageId }),
      output: z.object({ chat }),
      errors: ['not_found', 'forbidden'],
      example: { input: { message_id: 1 }, output: { chat: launch } },
    }),
    pins: get(['messages:read'], {
      summary: 'List the pinned messages of a chat, the newest pin first.',
      input: z.strictObject({ chat_id: chatId }),
      output: z.object({ messages: z.array(message) }),
      errors: ['not_found', 'forbidden'],
      example: { input: { chat_id: 1 }, output: { messages: [] } },
    }),
    create_group: post(['chats:write'], {
      summary: 'Create a group with the given participants, or with none; you become its owner.',
      idempotent: true,
      input: z.strictObject({ name: title, participants, description: description.optional() }),
      output: z.object({ group: chat }),
      errors: ['conflict', 'idempotency_conflict'],
      example: { input: { name: 'Weekend', participants: [2, 3] }, output: { group: newChat } },
    }),
    create_channel: post(['chats:write'], {
      summary: 'Create a channel: its owner and admins post, everyone in it reads, anyone may join a public one.',
      idempotent: true,
      input: z.strictObject({
        name: title,
        description: description.optional(),
        visibility: visibility.default('public').meta({ description: 'whether everyone can find and join it' }),
        participants,
      }),
      output: z.object({ channel: chat }),
      errors: ['conflict', 'idempotency_conflict'],
      example: {
        input: { name: 'News', description: 'What is new' },
        output: {
          channel: {
            ...newChat,
            type: 'channel',
            visibility: 'public',
            name: 'News',
            description: 'What is new',
            participant_count: 1,
          },
        },
      },
    }),
    create_direct: post(['chats:write'], {
      summary: 'Open the direct chat with a user. It is the same chat for both, however often it is opened.',
      idempotent: true,
      input: z.strictObject({ user_id: userId }),
      output: z.object({ chat }),
      errors: ['conflict', 'idempotency_conflict'],
      example: {
        input: { user_id: 3 },
        output: {
          chat: {
            ...newChat,
            type: 'direct',
            name: null,
            participant_count: 2,
            peer: { user_id: 3, kind: 'person', name: 'cleo', display_name: 'Cleo' },
            role: 'member',
          },
        },
      },
    }),
  };
};
