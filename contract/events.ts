import { z } from 'zod';
import { chatId, messageId, userId, webhookId } from './fields.ts';
import { file, message, preferences, presence, role, user, visibility } from './records.ts';

const { mentions, mentions_all, thread_id } = message.shape;
const created = z.object({ chat_id: chatId, name: z.string(), user_id: userId, participants: z.array(userId) });
const membership = z.object({ chat_id: chatId, user_id: userId, actor_id: userId });
const pin = z.object({
  message_id: messageId,
  chat_id: chatId,
  user_id: userId.meta({ description: 'the user who did it' }),
});
const reaction = z.object({ message_id: messageId, chat_id: chatId, user_id: userId, emoji: z.string() });

/** Every event of the log, and its `data`. */
export const events = {
  new_message: {
    when: 'a new message appears in a chat',
    data: z.object({
      message_id: messageId,
      chat_id: chatId,
      user_id: userId,
      content: z.string(),
      mentions,
      mentions_all,
      thread_id,
      file: file.optional(),
      files: z.array(file).optional().meta({ description: 'all files, if there are several' }),
      reply_to: messageId.optional(),
    }),
  },
  message_edited: {
    when: 'a message is edited',
    data: z.object({
      message_id: messageId,
      chat_id: chatId,
      user_id: userId.meta({ description: 'the author' }),
      content: z.string(),
      mentions,
      mentions_all,
      previous_content: z.string(),
      previous_mentions: mentions.meta({ description: 'whom the text before mentioned by `@name`; absent if nobody' }),
      previous_mentions_all: mentions_all.meta({
        description: 'true if the text before mentioned `@all`; absent otherwise',
      }),
    }),
  },
  message_deleted: {
    when: 'a message is deleted',
    data: z.object({
      message_id: messageId,
      chat_id: chatId,
      user_id: userId.meta({ description: 'the author' }),
      actor_id: userId.meta({ description: 'who deleted it' }),
      mentions: mentions.meta({ description: 'whom the message mentioned by `@name`; absent if nobody' }),
      mentions_all: mentions_all.meta({ description: 'true if the message mentioned `@all`; absent otherwise' }),
      thread_id,
    }),
  },
  user_joined: { when: 'a user joins a group or channel, or is added to it', data: membership },
  user_left: { when: 'a user leaves a group or channel, or is removed from it', data: membership },
  group_created: { when: 'a new group is created', data: created },
  channel_created: { when: 'a new channel is created', data: created },
  direct_created: {
    when: 'a new direct chat is created',
    data: z.object({ chat_id: chatId, user_id: userId, participants: z.array(userId) }),
  },
  chat_updated: {
    when: 'the name, description or visibility of a chat changes',
    data: z.object({
      chat_id: chatId,
      user_id: userId.meta({ description: 'who changed it' }),
      name: z.string(),
      description: z.string(),
      visibility,
    }),
  },
  role_changed: {
    when: 'the role of a participant changes',
    data: z.object({ chat_id: chatId, user_id: userId, actor_id: userId, role, previous_role: role }),
  },
  user_updated: {
    when: 'the profile of a participant changes; one event for each of their chats',
    data: z.object({
      chat_id: chatId,
      ...user.pick({
        user_id: true,
        name: true,
        display_name: true,
        status_text: true,
        time_zone: true,
        avatar_url: true,
      }).shape,
    }),
  },
  reaction_added: { when: 'somebody reacts to a message', data: reaction },
  reaction_removed: { when: 'somebody takes a reaction back', data: reaction },
  message_pinned: { when: 'a message is pinned in its chat', data: pin },
  message_unpinned: { when: 'a message is unpinned; one that is deleted is unpinned without this event', data: pin },
  preferences_changed: {
    when: 'you change your own preferences for a chat',
    data: z.object({ user_id: userId, preferences: z.object({ chat_id: chatId, ...preferences }) }),
  },
  webhook_disabled: {
    when: 'one of your webhooks is disabled because its endpoint is gone or was down for too long',
    data: z.object({
      webhook_id: webhookId,
      user_id: userId.meta({ description: 'the owner of the webhook' }),
      url: z.string(),
      reason: z.enum(['gone', 'unreachable']),
    }),
  },
} as const;

/** Signals go to open streams and are not stored. A client that was offline reads the state again. */
export const signals = {
  message_read: {
    when: 'somebody has read a chat up to a message',
    data: z.object({ chat_id: chatId, user_id: userId.meta({ description: 'who has read' }), message_id: messageId }),
  },
  typing: {
    when: 'somebody writes a message in a chat of at most 100 participants; forget it after 6 seconds, or at the next message of that user',
    data: z.object({ chat_id: chatId, user_id: userId.meta({ description: 'the user who is typing' }) }),
  },
  presence_changed: {
    when: 'somebody in one of your chats of at most 100 participants comes online, is away, or goes offline',
    data: z.object({ user_id: userId, presence }),
  },
  deliveries_changed: {
    when: 'deliveries of one of your webhooks are created, tried or changed; at most 5 times a second for each webhook',
    data: z.object({ webhook_id: webhookId }),
  },
} as const;

export type EventName = keyof typeof events;
export type EventData<E extends EventName = EventName> = z.output<(typeof events)[E]['data']>;

/** An event as an operation appends it. The log adds its id, its time and its bytes. */
export type NewEvent = { [E in EventName]: { readonly event: E; readonly data: EventData<E> } }[EventName];

export type SignalName = keyof typeof signals;
export type Signal = {
  [S in SignalName]: { readonly event: S; readonly data: z.output<(typeof signals)[S]['data']> };
}[SignalName];

/** A signal to the participants of a chat. */
export type ChatSignal = Extract<Signal, { data: { chat_id: unknown } }>;

/** A signal to the owner of a webhook. */
export type OwnerSignal = Extract<Signal, { data: { webhook_id: unknown } }>;

export const eventNames = Object.keys(events) as [EventName, ...EventName[]];
export const signalNames = Object.keys(signals) as [SignalName, ...SignalName[]];
