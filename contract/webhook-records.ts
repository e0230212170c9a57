import { z } from 'zod';
import { chatId, count, deliveryId, eventId, replayId, time, userId, webhookId } from './fields.ts';

export const webhookStatus = z.enum(['active', 'paused', 'disabled']);

/** Why a webhook was disabled. The first two keep what they miss until they are active again, the others do not. */
export const disabledReasons = {
  gone: 'the endpoint responded with 410',
  unreachable: 'the endpoint was down for 5 days',
  access_revoked: 'the access token that registered it was revoked or has expired',
  user_disabled: 'its user was disabled',
} as const;

export type DisabledReason = keyof typeof disabledReasons;

export const deliveryStates = {
  pending: 'waits for its turn',
  retrying: 'was tried without success, and will be tried again',
  delivered: 'was answered with a 2xx',
  failed: 'was refused each time, and is given up',
  skipped: 'is not sent; `reason` says why',
} as const;

export type DeliveryState = keyof typeof deliveryStates;

export const skipReasons = {
  by_owner: 'skipped by its owner',
  expired: 'older than events are kept',
  webhook_deleted: 'the webhook was deleted',
  access_revoked: disabledReasons.access_revoked,
  user_disabled: disabledReasons.user_disabled,
} as const;

export type SkipReason = keyof typeof skipReasons;

/** The values of an enum, each with its meaning. */
function told<T extends string>(meanings: Readonly<Record<T, string>>) {
  const description = Object.entries(meanings).map(([value, meaning]) => `\`${value}\`: ${meaning}`);
  return z.enum(Object.keys(meanings) as [T, ...T[]]).meta({ description: description.join('; ') });
}

export const deliveryState = told(deliveryStates);

export const webhook = z
  .object({
    webhook_id: webhookId,
    user_id: userId.meta({ description: 'whom it belongs to' }),
    url: z.string(),
    events: z.array(z.string()).meta({ description: '`*` stands for all' }),
    unknown_events: z.array(z.string()).meta({ description: 'those of `events` that Parley does not have yet' }),
    chat_id: chatId.nullable().meta({ description: 'the one chat it is about; null: all that its user is in' }),
    service_wide: z.boolean().meta({ description: 'whether it is told of every chat of the service' }),
    include_direct: z.boolean().meta({ description: 'whether that includes direct chats' }),
    status: webhookStatus.meta({ description: '`paused` by its owner, `disabled` by Parley' }),
    disabled_reason: told(disabledReasons).nullable(),
    down_since: time.nullable().meta({ description: 'since when the endpoint has not answered' }),
    next_attempt_at: time.nullable().meta({ description: 'until when the whole endpoint is left alone' }),
    oldest_undelivered_age: count
      .nullable()
      .meta({ description: 'seconds since the oldest event that is still to be delivered; null: there is none' }),
    expired_count: count.meta({ description: 'events that it never got because they grew too old' }),
    previous_secret_until: time
      .nullable()
      .meta({ description: 'until when deliveries are signed with the secret before the last rotation as well' }),
    created_at: time,
  })
  .meta({ id: 'Webhook' });

export const delivery = z
  .object({
    delivery_id: deliveryId,
    webhook_id: webhookId,
    event_id: eventId,
    event: z.string(),
    chat_id: chatId.nullable(),
    replay_id: replayId.nullable().meta({ description: 'the replay it is part of' }),
    state: deliveryState,
    reason: told(skipReasons).nullable(),
    attempt_count: count,
    next_attempt_at: time.nullable(),
    last_attempt_at: time.nullable(),
    last_status: z.int().nullable().meta({ description: 'the HTTP status of the last answer' }),
    last_error: z.string().nullable().meta({ description: 'what went wrong with the last attempt' }),
    duration_ms: count.nullable().meta({ description: 'how long the last attempt took' }),
  })
  .meta({ id: 'Delivery' });

export const attempt = z
  .object({
    number: z.int().positive(),
    at: time,
    status: z.int().nullable(),
    error: z.string().nullable(),
    duration_ms: count,
    answer: z
      .string()
      .nullable()
      .meta({ description: 'the first 4 KiB of the answer; not kept where the first attempt succeeded' }),
  })
  .meta({ id: 'Attempt' });

export const deliveryInFull = delivery
  .extend({
    attempts: z.array(attempt),
    body: z.string().nullable().meta({
      description: 'the exact body, which `X-Webhook-Signature` signs; null once the event is no longer kept',
    }),
    signed_content: z
      .string()
      .nullable()
      .meta({ description: 'exactly what `webhook-signature` of the last attempt signs' }),
  })
  .meta({ id: 'DeliveryInFull' });

export const replayStatus = z.enum(['running', 'done', 'stopped']);

export const replay = z
  .object({
    replay_id: replayId,
    webhook_id: webhookId,
    status: replayStatus.meta({ description: '`stopped` with its webhook' }),
    only: z.array(deliveryState).nullable().meta({ description: 'the states it is limited to; null: everything' }),
    from_event_id: eventId,
    to_event_id: count.meta({ description: 'the newest event when it was asked for' }),
    reached_event_id: count.meta({ description: 'how far it has come' }),
    open_count: count.meta({ description: 'sent for but not settled yet' }),
    delivered_count: count,
    failed_count: count,
    skipped_count: count,
    created_at: time,
    finished_at: time.nullable(),
  })
  .meta({ id: 'Replay' });

export type Webhook = z.output<typeof webhook>;
export type WebhookStatus = z.output<typeof webhookStatus>;
export type Delivery = z.output<typeof delivery>;
export type Attempt = z.output<typeof attempt>;
export type DeliveryInFull = z.output<typeof deliveryInFull>;
export type Replay = z.output<typeof replay>;
export type ReplayStatus = z.output<typeof replayStatus>;
