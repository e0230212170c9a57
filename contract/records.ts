import { z } from 'zod';
import {
  appId,
  chatId,
  count,
  eventId,
  fileId,
  hookId,
  invitationId,
  messageId,
  subscriptionId,
  time,
  timeOfDay,
  tokenId,
  userId,
} from './fields.ts';
import { scopeNames } from './scopes.ts';

export const role = z.enum(['owner', 'admin', 'member']);
export const chatType = z.enum(['direct', 'group', 'channel']);
export const visibility = z.enum(['public', 'private']);
export const presence = z.enum(['online', 'away', 'offline']);

export const userKind = z.enum(['person', 'bot']);

/** Which messages of a chat notify a participant. */
export const notify = z.enum(['all', 'mentions', 'none']);

export type Role = z.output<typeof role>;
export type ChatType = z.output<typeof chatType>;
export type Visibility = z.output<typeof visibility>;
export type Notify = z.output<typeof notify>;
export type Presence = z.output<typeof presence>;

export const reaction = z
  .object({
    emoji: z.string(),
    count,
    reacted: z.boolean().meta({ description: 'whether the caller is among them' }),
  })
  .meta({ id: 'Reaction' });

export const file = z
  .object({
    file_id: fileId,
    name: z.string(),
    mime_type: z.string().meta({ description: 'found from the bytes' }),
    size: count.meta({ description: 'bytes' }),
    sha256: z.string().meta({ description: 'of the bytes, in lowercase hex' }),
    width: z.int().positive().optional().meta({ description: 'of an upright image, in pixels' }),
    height: z.int().positive().optional(),
    url: z.string().meta({ description: 'fetches the file with an access token; it never changes' }),
    thumbnail_url: z.string().optional().meta({
      description: 'fetches a small copy of an image; absent for other files and for images that are too large',
    }),
  })
  .meta({ id: 'File' });

export const message = z
  .object({
    message_id: messageId,
    chat_id: chatId,
    user_id: userId,
    content: z.string().meta({ description: 'empty if there is only a file, and once the message is deleted' }),
    mentions: z
      .array(userId)
      .optional()
      .meta({ description: 'the participants whom the text mentions by `@name`; absent if there are none' }),
    mentions_all: z.boolean().optional().meta({ description: 'true if the text mentions `@all`; absent otherwise' }),
    thread_id: messageId.optional().meta({ description: 'the first message of the thread; only of a reply' }),
    reply_to: messageId.nullable(),
    file: file.nullable().meta({ description: 'the file sent with the message, or the first of several' }),
    files: z.array(file).optional().meta({ description: 'all files, if there are several' }),
    reactions: z.array(reaction),
    created_at: time,
    edited_at: time.nullable(),
    deleted_at: time.nullable(),
    reply_count: count.optional().meta({ description: 'replies in its thread, without deleted ones; absent if none' }),
    last_reply_id: messageId.optional().meta({ description: 'the newest of these replies' }),
    last_reply_at: time.optional(),
  })
  .meta({ id: 'Message' });

export const lastMessage = z
  .object({
    message_id: messageId,
    user_id: userId.meta({ description: 'the author' }),
    name: z.string(),
    display_name: z.string(),
    content: z.string().meta({ description: 'the first 200 characters; empty once the message is deleted' }),
    file: z.string().nullable().meta({ description: 'the name of its file' }),
    created_at: time,
  })
  .meta({ id: 'LastMessage' });

export const peer = z
  .object({ user_id: userId, kind: userKind, name: z.string(), display_name: z.string() })
  .meta({ id: 'Peer' });

/** The choices of a participant for a chat. Nobody else sees them. */
export const preferences = {
  notify: notify.meta({ description: 'which messages notify you; clients act on it' }),
  muted_until: time.nullable().meta({ description: 'no notifications until then; a time in the past has no effect' }),
  archived: z.boolean().meta({ description: 'whether you have archived the chat' }),
  pinned: z.boolean().meta({ description: 'whether you keep the chat at the top of your list' }),
};
export const thread = z
  .object({
    message: message.meta({ description: 'the first message' }),
    reply_count: count,
    last_reply_id: messageId,
    last_reply_at: time,
    unread_count: count.meta({
      description: 'replies of others after your read marker of the chat, among the newest 100 of the thread',
    }),
  })
  .meta({ id: 'Thread' });

export const chat = z
  .object({
    chat_id: chatId,
    type: chatType,
    visibility,
    name: z.string().nullable().meta({ description: 'null in a direct chat' }),
    description: z.string(),
    created_by: userId,
    created_at: time,
    participant_count: count,
    last_message_id: messageId.nullable(),
    last_message: lastMessage.nullable().meta({ description: 'the newest message; null if you are not a participant' }),
    peer: peer.nullable().meta({ description: 'the other side of a direct chat' }),
    pins: z
      .array(messageId)
      .meta({ description: 'the pinned messages, the newest pin first; none if you are not a participant' }),
    role: role.nullable().meta({ description: 'your role; null if you are not a participant' }),
    last_read_id: messageId
      .nullable()
      .meta({ description: 'your read marker: the last message that you have read; null if none' }),
    unread_count: count.meta({
      description: 'messages of others after your read marker, among the newest 100 of the chat',
    }),
    mention_count: count.meta({
      description:
        'messages of others after your read marker that mention you, and those that mention `@all`, among the newest 100 of each',
    }),
    ...preferences,
  })
  .meta({ id: 'Chat' });

export const participant = z
  .object({
    user_id: userId,
    name: z.string(),
    display_name: z.string(),
    role,
    joined_at: time,
    last_read_id: messageId.nullable().meta({ description: 'the last message that they have read; null if none' }),
  })
  .meta({ id: 'Participant' });

export const user = z
  .object({
    user_id: userId,
    kind: userKind,
    owner_id: userId.nullable().meta({ description: 'the person whose bot it is; null for a person' }),
    name: z.string(),
    display_name: z.string(),
    status_text: z.string().meta({ description: 'a line that the user writes about what they do; empty by default' }),
    time_zone: z.string().nullable().meta({ description: 'a name of the IANA time zone database' }),
    avatar_url: z
      .string()
      .nullable()
      .meta({ description: 'fetches the picture with an access token; changes with the picture' }),
    is_admin: z.boolean(),
    created_at: time,
    disabled_at: time.nullable(),
  })
  .meta({ id: 'User' });

/** An incoming webhook. */
export const hook = z
  .object({
    hook_id: hookId,
    chat_id: chatId,
    bot: user.meta({ description: 'the bot that it posts as' }),
    created_by: userId,
    active: z.boolean().meta({ description: 'false while its creator may not post in the chat' }),
    created_at: time,
    last_used_at: time.nullable().meta({ description: 'to the minute' }),
  })
  .meta({ id: 'Hook' });

export const token = z
  .object({
    token_id: tokenId,
    name: z.string(),
    scopes: z.array(z.enum(scopeNames)),
    created_at: time,
    expires_at: time.nullable(),
    last_used_at: time.nullable(),
  })
  .meta({ id: 'Token' });

export const pushSubscription = z
  .object({
    subscription_id: subscriptionId,
    endpoint: z.string().meta({ description: 'the URL at the push service of the browser' }),
    browser: z
      .string()
      .nullable()
      .meta({ description: 'such as "Firefox on Windows"; null if it subscribed with an access token' }),
    with_text: z.boolean().meta({ description: 'whether notifications contain the text of messages' }),
    created_at: time,
  })
  .meta({ id: 'PushSubscription' });

export type PushSubscription = z.output<typeof pushSubscription>;

/** When a person wants no notifications, whatever a chat says. */
export const quietHours = z
  .object({
    from: timeOfDay,
    to: timeOfDay.meta({ description: 'hours and minutes; before `from`: on the next day' }),
    time_zone: z.string().meta({ description: 'a name of the IANA time zone database' }),
  })
  .meta({ id: 'QuietHours' });

export type QuietHours = z.output<typeof quietHours>;

export const app = z
  .object({
    app_id: appId,
    client_id: z.string().meta({ description: 'identifies the app in OAuth requests' }),
    name: z.string(),
    redirects: z.array(z.string()).meta({ description: 'the redirect URLs' }),
    confidential: z.boolean().meta({ description: 'whether it has a secret' }),
    bot_id: userId.nullable().meta({ description: 'the bot that the app acts as with its own credentials' }),
    by_token: z.boolean().meta({
      description: 'whether it was registered with an access token, and not confirmed by its owner in a browser since',
    }),
    created_at: time,
  })
  .meta({ id: 'App' });

/** An app that a person has authorized. */
export const authorizedApp = z
  .object({
    app_id: appId,
    name: z.string(),
    scopes: z.array(z.enum(scopeNames)),
    since: time,
    last_used_at: time.nullable(),
  })
  .meta({ id: 'AuthorizedApp' });

/** The requests with an access token on one day. */
export const tokenUse = z
  .object({
    token_id: tokenId,
    day: z.iso.date().meta({ description: 'the day in UTC' }),
    requests: count,
  })
  .meta({ id: 'TokenUse' });

export const invitation = z
  .object({
    invitation_id: invitationId,
    note: z.string(),
    created_by: userId.nullable().meta({ description: 'null if the operator created it on the command line' }),
    created_at: time,
    expires_at: time,
  })
  .meta({ id: 'Invitation' });

export const service = z
  .object({
    name: z.string().meta({ description: 'the name of this service' }),
    welcome_chat_id: chatId.nullable().meta({ description: 'the chat that new people join by themselves' }),
  })
  .meta({ id: 'Service' });

export const loggedEvent = z
  .object({
    event_id: eventId,
    event: z.string(),
    timestamp: time,
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Event' });

export type FileInfo = z.output<typeof file>;
export type Message = z.output<typeof message>;
export type Thread = z.output<typeof thread>;
export type Reaction = z.output<typeof reaction>;
export type LastMessage = z.output<typeof lastMessage>;
export type Chat = z.output<typeof chat>;
export type Participant = z.output<typeof participant>;
export type User = z.output<typeof user>;
export type Hook = z.output<typeof hook>;
export type Token = z.output<typeof token>;
export type App = z.output<typeof app>;
export type AuthorizedApp = z.output<typeof authorizedApp>;
export type TokenUse = z.output<typeof tokenUse>;
export type Invitation = z.output<typeof invitation>;
export type Service = z.output<typeof service>;
export type LoggedEvent = z.output<typeof loggedEvent>;
