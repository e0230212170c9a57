import { z } from 'zod';
import { chatId, count, deliveryId, eventId, replayId, time, userId, webhookId } from './fields.ts';

export const webhookStatus = z.enum(['active', 'paused', 'disabled']);

/** A webhook that is `gone` or `unreachable` keeps its undelivered events until it is active again. The others do not. */
export const disabledReasons = {
  gone: 'the endpoint responded with 410',
  unreachable: 'the endpoint was down for 5 days',
  access_revoked: 'the access token that registered it was revoked or has expired',
  user_disabled: 'its user was disabled',
} as const;

export type DisabledReason = keyof typeof disabledReasons;

export const deliveryStates = {
  pending: 'not tried yet',
  retrying: 'failed so far, and will be retried',
  delivered: 'the endpoint responded with a 2xx',
  failed: 'failed on every attempt',
  skipped: 'not sent; `reason` says why',
} as const;

export type DeliveryState = keyof typeof deliveryStates;

export const skipReasons = {
  by_owner: 'skipped by its owner',
  expired: 'its event has expired',
  webhook_deleted: 'the webhook was deleted',
  access_revoked: disabledReasons.access_revoked,
  user_disabled: disabledReasons.user_disabled,
} as const;

export type SkipReason = keyof typeof skipReasons;

/** Why an attempt failed. */
export const failureCauses = {
  status: 'the response was neither a 2xx nor a redirect',
  redirect: 'the response was a redirect, which is not followed',
  timeout: 'there was no complete response within 15 seconds',
  dns: 'the host name does not resolve',
  dns_unavailable: 'the host name could not be looked up',
  refused: 'the connection was refused',
  unreachable: 'there is no route to the address',
  reset: 'the connection was closed before the response',
  tls: 'the certificate was not accepted, or the TLS handshake failed',
  not_http: 'the response is not valid HTTP',
  blocked_address: 'Parley may not send to the address',
  cancelled: 'Parley was stopped during the attempt',
  other: 'any other reason',
} as const;

export type FailureCause = keyof typeof failureCauses;

/** Returns an enum whose description explains each value. */
function explained<T extends string>(meanings: Readonly<Record<T, string>>) {
  const description = Object.entries(meanings).map(([value, meaning]) => `\`${value}\`: ${meaning}`);
  return z.enum(Object.keys(meanings) as [T, ...T[]]).meta({ description: description.join('; ') });
}

export const deliveryState = explained(deliveryStates);

export const webhook = z
  .object({
    webhook_id: webhookId,
    user_id: userId.meta({ description: 'the owner' }),
    url: z.string(),
    events: z.array(z.string()).meta({ description: '`*` stands for all' }),
    unknown_events: z.array(z.string()).meta({ description: 'names in `events` that Parley does not have yet' }),
    chat_id: chatId
      .nullable()
      .meta({ description: 'the one chat whose events it receives; null: all chats of its user' }),
    service_wide: z.boolean().meta({ description: 'whether it receives the events of every chat of the service' }),
    include_direct: z.boolean().meta({ description: 'whether that includes direct chats' }),
    status: webhookStatus.meta({ description: '`paused` by its owner, `disabled` by Parley' }),
    disabled_reason: explained(disabledReasons).nullable(),
    down_since: time.nullable().meta({ description: 'since when the endpoint does not respond' }),
    next_attempt_at: time.nullable().meta({ description: 'when the endpoint is tried again after an outage' }),
    oldest_undelivered_age: count
      .nullable()
      .meta({ description: 'seconds since the oldest undelivered event; null if there is none' }),
    expired_count: count.meta({ description: 'events that expired before they were delivered' }),
    previous_secret_until: time
      .nullable()
      .meta({ description: 'until when deliveries are also signed with the secret before the last rotation' }),
    created_at: time,
  })
  .meta({ id: 'Webhook' });

const warning = z
  .object({ field: z.string().meta({ description: 'the field of the request' }), message: z.string() })
  .meta({ id: 'Warning' });

export const warnings = z
  .array(warning)
  .meta({ description: 'accepted input that is probably a mistake: unknown events, a short secret' });

export const delivery = z
  .object({
    delivery_id: deliveryId,
    webhook_id: webhookId,
    event_id: eventId,
    event: z.string(),
    chat_id: chatId.nullable(),
    replay_id: replayId.nullable().meta({ description: 'the replay it is part of' }),
    state: deliveryState,
    reason: explained(skipReasons).nullable(),
    attempt_count: count,
    next_attempt_at: time.nullable(),
    last_attempt_at: time.nullable(),
    last_status: z.int().nullable().meta({ description: 'the HTTP status of the last response' }),
    last_error: z.string().nullable().meta({ description: 'the error of the last attempt, for people' }),
    last_cause: explained(failureCauses).nullable(),
    duration_ms: count.nullable().meta({ description: 'how long the last attempt took' }),
  })
  .meta({ id: 'Delivery' });

/** Counts of health stop here, so that they cost the same however many there are. */
export const maxHealthCount = 1_000;

const atMost = `at most ${maxHealthCount}, which stands for that many or more`;

export const webhookHealth = webhook
  .extend({
    recent_count: count.meta({
      description: `deliveries of the events of the last 24 hours: the newest ${maxHealthCount} at most`,
    }),
    delivered_count: count.meta({ description: 'how many of `recent_count` are `delivered`' }),
    failed_count: count.meta({ description: 'how many of `recent_count` are `failed`' }),
    retrying_count: count.meta({ description: `deliveries that are \`retrying\`: ${atMost}` }),
    backlog_count: count.meta({ description: `events that are not settled: ${atMost}` }),
    failing_since: time.nullable().meta({
      description: 'since when the endpoint is down, or otherwise the first attempt at a delivery that is `retrying`',
    }),
    last_failure: delivery.nullable().meta({
      description: 'the delivery that failed last and is `retrying`, or otherwise the newest one that is `failed`',
    }),
  })
  .meta({ id: 'WebhookHealth' });

export const attempt = z
  .object({
    number: z.int().positive(),
    at: time,
    status: z.int().nullable(),
    error: z.string().nullable().meta({ description: 'why it failed, for people' }),
    cause: explained(failureCauses).nullable(),
    duration_ms: count,
    answer: z.string().nullable().meta({
      description:
        'the first 4 KiB of the response, after the `Location` of a redirect; null if the first attempt succeeded',
    }),
  })
  .meta({ id: 'Attempt' });

export const deliveryInFull = delivery
  .extend({
    attempts: z.array(attempt),
    body: z.string().nullable().meta({
      description: 'the exact body, which `X-Webhook-Signature` signs; null once the event has expired',
    }),
    signed_content: z
      .string()
      .nullable()
      .meta({ description: 'the exact text that `webhook-signature` of the last attempt signs' }),
    headers: z.record(z.string(), z.string()).nullable().meta({
      description:
        'the headers of the last attempt as they were sent, though `User-Agent` has the version of now; null before the first one. Those of the signatures are left out if they cannot be computed again: the event has expired, the webhook was deleted, or its secret was rotated more than once since',
    }),
  })
  .meta({ id: 'DeliveryInFull' });

export const replayStatus = z.enum(['running', 'done', 'stopped', 'cancelled']);

export const replay = z
  .object({
    replay_id: replayId,
    webhook_id: webhookId,
    status: replayStatus.meta({ description: '`stopped` with its webhook, `cancelled` by its owner' }),
    only: z.array(deliveryState).nullable().meta({ description: 'the states it is limited to; null: everything' }),
    from_event_id: eventId,
    to_event_id: count.meta({ description: 'the newest event when it was requested' }),
    reached_event_id: count.meta({ description: 'the last event that it has queued' }),
    open_count: count.meta({ description: 'deliveries that are not settled yet' }),
    delivered_count: count,
    failed_count: count,
    skipped_count: count,
    created_at: time,
    finished_at: time.nullable(),
  })
  .meta({ id: 'Replay' });

export type Warning = z.output<typeof warning>;
export type Webhook = z.output<typeof webhook>;
export type WebhookHealth = z.output<typeof webhookHealth>;
export type WebhookStatus = z.output<typeof webhookStatus>;
export type Delivery = z.output<typeof delivery>;
export type Attempt = z.output<typeof attempt>;
export type DeliveryInFull = z.output<typeof deliveryInFull>;
export type Replay = z.output<typeof replay>;
export type ReplayStatus = z.output<typeof replayStatus>;
