import { z } from 'zod';
import { appId, chatId, count, eventId, fileId, messageId, time, tokenId, userId } from './fields.ts';
import { scopeNames } from './scopes.ts';

export const role = z.enum(['owner', 'admin', 'member']);
export const chatType = z.enum(['direct', 'group', 'channel']);
export const visibility = z.enum(['public', 'private']);

export const userKind = z.enum(['person', 'bot']);

export type Role = z.output<typeof role>;
export type ChatType = z.output<typeof chatType>;
export type Visibility = z.output<typeof visibility>;

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
    reply_to: messageId.nullable(),
    file: file.nullable().meta({ description: 'the file sent with the message, or the first of several' }),
    files: z.array(file).optional().meta({ description: 'all files, if there are several' }),
    reactions: z.array(reaction),
    created_at: time,
    edited_at: time.nullable(),
    deleted_at: time.nullable(),
  })
  .meta({ id: 'Message' });

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
    role: role.nullable().meta({ description: 'your role; null if you are not a participant' }),
    unread_count: count.meta({
      description: 'messages of others after your read marker, among the newest 100 of the chat',
    }),
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
    status_text: z.string().meta({ description: 'what the user does; empty by default' }),
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

export const app = z
  .object({
    app_id: appId,
    client_id: z.string().meta({ description: 'identifies the app in OAuth requests' }),
    name: z.string(),
    redirects: z.array(z.string()).meta({ description: 'the redirect URLs' }),
    confidential: z.boolean().meta({ description: 'whether it has a secret' }),
    bot_id: userId.nullable().meta({ description: 'the bot that the app acts as with its own credentials' }),
    created_at: time,
  })
  .meta({ id: 'App' });

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
export type Reaction = z.output<typeof reaction>;
export type Chat = z.output<typeof chat>;
export type Participant = z.output<typeof participant>;
export type User = z.output<typeof user>;
export type Token = z.output<typeof token>;
export type App = z.output<typeof app>;
export type LoggedEvent = z.output<typeof loggedEvent>;
