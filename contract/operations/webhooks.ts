import { z } from 'zod';
import { eventNames } from '../events.ts';
import {
  chatId,
  count,
  deliveryId,
  eventId,
  hasMore,
  pageLimit,
  replayId,
  text,
  timeInput,
  webhookId,
} from '../fields.ts';
import type { Limits } from '../limits.ts';
import { get, post } from '../operation.ts';
import {
  attempt,
  delivery,
  deliveryInFull,
  deliveryState,
  replay,
  warnings,
  webhook,
  webhookHealth,
} from '../webhook-records.ts';

const at = '2026-01-01T12:00:00.000Z';
const body =
  '{"event":"new_message","timestamp":"2026-01-01T12:00:00.000Z","data":{"message_id":3,"chat_id":1,"user_id":3,"content":"The launch is on Friday"}}';
const hook = {
  webhook_id: 1,
  user_id: 1,
  url: 'http://127.0.0.1:9/hook',
  events: ['new_message'],
  unknown_events: [],
  chat_id: null,
  service_wide: false,
  include_direct: false,
  status: 'active' as const,
  disabled_reason: null,
  down_since: at,
  next_attempt_at: at,
  oldest_undelivered_age: 2,
  expired_count: 0,
  previous_secret_until: null,
  created_at: at,
};
const newHook = { ...hook, webhook_id: 2, down_since: null, next_attempt_at: null, oldest_undelivered_age: null };
const refused = {
  delivery_id: 1,
  webhook_id: 1,
  event_id: 7,
  event: 'new_message',
  chat_id: 1,
  replay_id: null,
  state: 'retrying' as const,
  reason: null,
  attempt_count: 1,
  next_attempt_at: at,
  last_attempt_at: at,
  last_status: null,
  last_error: 'connection refused',
  last_cause: 'refused' as const,
  duration_ms: 1,
};
const refusedAttempt = {
  number: 1,
  at,
  status: null,
  error: 'connection refused',
  cause: 'refused' as const,
  duration_ms: 1,
  answer: null,
};
const refusedHeaders = {
  'Content-Type': 'application/json',
  'User-Agent': 'Parley-Webhooks/0.1.0',
  'X-Webhook-Id': '7',
  'X-Webhook-Event': 'new_message',
  'X-Webhook-Attempt': '1',
  'X-Webhook-Registration': '1',
  'X-Webhook-Signature': 'sha256=0e7374e6a91d868ba6cfb3ca8a1fd9b6d83b41ba784617893a9dfbbb96866fda',
  'webhook-id': '7',
  'webhook-timestamp': '1767268800',
  'webhook-signature': 'v1,1eNnzuuY4FQhy/vN1wcGhFnlVMJhQqNSNHqNdkHR2WQ=',
};

const heldReplay = {
  replay_id: 1,
  webhook_id: 1,
  status: 'running' as const,
  only: null,
  from_event_id: 1,
  to_event_id: 9,
  reached_event_id: 0,
  open_count: 0,
  delivered_count: 0,
  failed_count: 0,
  skipped_count: 0,
  created_at: at,
  finished_at: null,
};

const eventName = z
  .string()
  .regex(
    /^(?:\*|[A-Za-z0-9_.:-]{1,64})$/,
    'must be the name of an event: 1 to 64 of a–z, A–Z, 0–9, "_", ".", ":", "-", without spaces; or *',
  );

const eventFilter = z
  .array(eventName)
  .min(1, 'must name at least one event, or * for all')
  .max(100)
  .meta({ description: 'names of events, or `*` for all; unknown names are kept, with a warning' });

const url = z.string().meta({
  description: 'the endpoint: http or https, without credentials',
  maxLength: 2_048,
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://.',
});

const secret = text({ min: 1, maxBytes: 256 })
  .refine((s) => !s.startsWith('whsec_'), 'must not begin with whsec_: deliveries are signed with its exact bytes')
  .meta({ description: 'signs the deliveries; never shown again', minLength: 1, maxLength: 256 });

/** The events of a replay. */
const replayChoice = {
  from_event_id: eventId.optional().meta({ description: 'from this event on' }),
  since: timeInput.optional().meta({ description: 'from this time on; either this or `from_event_id`' }),
  only: z
    .array(z.enum(['failed', 'skipped']))
    .min(1)
    .max(2)
    .optional()
    .meta({ description: 'only failed or skipped deliveries' }),
};

/** Operations that show or redirect the content of messages need the scope to read them. */
const toMessages = ['webhooks', 'messages:read'] as const;

export const webhooks = (limits: Limits) => ({
  register: post(toMessages, {
    notForAgents: true,
    summary:
      'Register an endpoint that receives new events of your chats by POST: signed, and in order for each chat. It ends with the access token that registered it.',
    idempotent: true,
    input: z.strictObject({
      url,
      events: eventFilter,
      secret,
      chat_id: chatId.optional().meta({ description: 'only events of this chat' }),
      service_wide: z
        .boolean()
        .default(false)
        .meta({ description: 'events of every chat; for administrators with the scope `admin`' }),
      include_direct: z.boolean().default(false).meta({ description: 'with `service_wide`: of direct chats too' }),
    }),
    output: z.object({ webhook, warnings }),
    errors: ['not_found', 'forbidden', 'conflict', 'idempotency_conflict'],
    example: {
      input: { url: 'http://127.0.0.1:9/hook', events: ['new_message'], secret: 'a secret of yours' },
      output: { webhook: newHook, warnings: [] },
    },
  }),
  list: get(['webhooks'], {
    summary: 'List your webhooks.',
    input: z.strictObject({
      limit: pageLimit(limits.page),
      after_id: z.int().nonnegative().default(0).meta({ description: 'the last id of the page before' }),
    }),
    output: z.object({ webhooks: z.array(webhook), has_more: hasMore }),
    example: { input: {}, output: { webhooks: [hook], has_more: false } },
  }),
  get: get(['webhooks'], {
    summary: 'Get one of your webhooks.',
    input: z.strictObject({ webhook_id: webhookId }),
    output: z.object({ webhook }),
    errors: ['not_found'],
    example: { input: { webhook_id: 1 }, output: { webhook: hook } },
  }),
  health: get(['webhooks'], {
    summary:
      'Get your webhooks with what they delivered lately, what waits, and what failed last. Service-wide ones need the scope `admin`.',
    input: z.strictObject({
      webhook_id: webhookId.optional().meta({ description: 'only this webhook' }),
      limit: pageLimit(limits.page),
      after_id: z.int().nonnegative().default(0).meta({ description: 'the last id of the page before' }),
    }),
    output: z.object({ webhooks: z.array(webhookHealth), has_more: hasMore }),
    errors: ['not_found'],
    example: {
      input: {},
      output: {
        webhooks: [
          {
            ...hook,
            recent_count: 1,
            delivered_count: 0,
            failed_count: 0,
            retrying_count: 1,
            backlog_count: 1,
            failing_since: at,
            last_failure: refused,
          },
        ],
        has_more: false,
      },
    },
  }),
  update: post(toMessages, {
    notForAgents: true,
    summary:
      'Change the endpoint or the events of a webhook, pause it, or make it active again. Events that it missed while paused are then delivered in order.',
    input: z.strictObject({
      webhook_id: webhookId,
      url: url.optional(),
      events: eventFilter.optional(),
      status: z.enum(['active', 'paused']).optional(),
    }),
    output: z.object({ webhook, warnings }),
    errors: ['not_found'],
    example: {
      input: { webhook_id: 1, events: ['new_message', 'message_edited'] },
      output: {
        webhook: { ...hook, events: ['new_message', 'message_edited'] },
        warnings: [],
      },
    },
  }),
  rotate_secret: post(['webhooks'], {
    notForAgents: true,
    summary: 'Sign with another secret. For 24 hours `webhook-signature` also has a signature with the old one.',
    input: z.strictObject({ webhook_id: webhookId, secret }),
    output: z.object({ webhook, warnings }),
    errors: ['not_found'],
    example: {
      input: { webhook_id: 1, secret: 'another secret of yours' },
      output: { webhook: { ...hook, previous_secret_until: '2026-01-02T12:00:00.000Z' }, warnings: [] },
    },
  }),
  test: post(toMessages, {
    notForAgents: true,
    summary:
      'Send a test now and return the response: to a webhook, whatever its status, or to a URL that is not registered yet. A person and their bots test 10 such URLs a minute. The id of a test is not an event id.',
    input: z
      .strictObject({
        webhook_id: webhookId.optional(),
        url: url.optional().meta({
          description: 'the endpoint to test, instead of that of the webhook or without a webhook',
        }),
        secret: secret.optional().meta({ description: 'signs the test of a `url` without a webhook' }),
        event: z.enum(eventNames).optional().meta({
          description: 'send an example of this event; without it, a sample event named `test`',
        }),
        event_id: eventId.optional().meta({
          description: 'send the exact body of this past event, of a chat that the webhook receives events of',
        }),
      })
      .refine(({ webhook_id, url }) => webhook_id !== undefined || url !== undefined, {
        path: ['webhook_id'],
        message: 'or url is required',
      })
      .refine(({ webhook_id, secret }) => (webhook_id === undefined) === (secret !== undefined), {
        path: ['secret'],
        message: 'is required without webhook_id, and goes only without it',
      })
      .refine(({ event, event_id }) => event === undefined || event_id === undefined, {
        path: ['event_id'],
        message: 'cannot be given beside event',
      })
      .refine(({ url, event_id }) => url === undefined || event_id === undefined, {
        path: ['event_id'],
        message: 'cannot be given beside url',
      }),
    output: z.object({
      delivered: z.boolean().meta({ description: 'whether the response was a 2xx' }),
      attempt,
      body: z.string().meta({ description: 'the exact body that was sent' }),
    }),
    errors: ['not_found'],
    example: {
      input: { webhook_id: 1 },
      output: {
        delivered: false,
        attempt: refusedAttempt,
        body: `{"event":"test","timestamp":"${at}","data":{"webhook_id":1,"message":"A test of this webhook. Nothing has happened."}}`,
      },
    },
  }),
  deliveries: get(['webhooks'], {
    summary:
      'List the deliveries of a webhook, those of the newest events first. Pass `next` as `before_id` to continue.',
    input: z.strictObject({
      webhook_id: webhookId,
      state: deliveryState.optional().meta({ description: 'only deliveries in this state' }),
      event: eventName.optional().meta({ description: 'only of events of this name' }),
      chat_id: chatId.optional().meta({ description: 'only of events of this chat' }),
      replay_id: replayId.optional().meta({ description: 'only those of this replay' }),
      since: timeInput.optional().meta({ description: 'only of events that happened at this time or later' }),
      until: timeInput.optional().meta({ description: 'only of events that happened before this time' }),
      before_id: deliveryId.optional().meta({ description: '`next` of the page before' }),
      limit: pageLimit(limits.page),
    }),
    output: z.object({
      deliveries: z.array(delivery),
      has_more: hasMore.meta({
        description: 'whether there may be more; a page with a rare filter may be short or empty',
      }),
      next: deliveryId.nullable().meta({ description: 'the cursor of the next page' }),
    }),
    errors: ['not_found'],
    example: {
      input: { webhook_id: 1, state: 'retrying' },
      output: { deliveries: [refused], has_more: false, next: null },
    },
  }),
  delivery: get(toMessages, {
    summary: 'Get one delivery with its attempts, the exact body and headers, and the exact bytes that were signed.',
    input: z.strictObject({ delivery_id: deliveryId }),
    output: z.object({ delivery: deliveryInFull }),
    errors: ['not_found'],
    example: {
      input: { delivery_id: 1 },
      output: {
        delivery: {
          ...refused,
          attempts: [refusedAttempt],
          body,
          signed_content: `7.1767268800.${body}`,
          headers: refusedHeaders,
        },
      },
    },
  }),
  skip: post(['webhooks'], {
    summary: 'Skip a delivery that is not settled, so that the next one of its chat is sent.',
    input: z.strictObject({ delivery_id: deliveryId }),
    output: z.object({ delivery }),
    errors: ['not_found', 'conflict'],
    example: {
      input: { delivery_id: 1 },
      output: { delivery: { ...refused, state: 'skipped', reason: 'by_owner', next_attempt_at: null } },
    },
  }),
  redeliver: post(toMessages, {
    summary:
      'Retry a delivery now. An open one is due at once, in its turn. A settled one is sent once more, and the response has the result.',
    input: z.strictObject({ delivery_id: deliveryId }),
    output: z.object({ delivery }),
    errors: ['not_found', 'conflict'],
    example: { input: { delivery_id: 1 }, output: { delivery: { ...refused, next_attempt_at: null } } },
  }),
  replay: post(toMessages, {
    summary:
      'Send past events again, in order, beside new ones and marked `X-Webhook-Replay`. It continues after a restart.',
    idempotent: true,
    input: z.strictObject({
      webhook_id: webhookId,
      ...replayChoice,
    }),
    output: z.object({ replay }),
    errors: ['not_found', 'conflict', 'cursor_expired', 'idempotency_conflict'],
    example: {
      input: { webhook_id: 1, from_event_id: 1, only: ['failed'] },
      output: { replay: { ...heldReplay, replay_id: 2, only: ['failed'] } },
    },
  }),
  preview_replay: get(toMessages, {
    summary: 'Count the events that `replay` would send with the same input, without sending any.',
    input: z.strictObject({ webhook_id: webhookId, ...replayChoice }),
    output: z.object({
      event_count: count,
      is_exact: z.boolean().meta({ description: 'false if there are more: counting stops at 10,000' }),
      from_event_id: eventId.meta({ description: 'where the replay would begin' }),
      to_event_id: count.meta({ description: 'the newest event, where it would end' }),
    }),
    errors: ['not_found', 'cursor_expired'],
    example: {
      input: { webhook_id: 1, from_event_id: 1 },
      output: { event_count: 3, is_exact: true, from_event_id: 1, to_event_id: 9 },
    },
  }),
  cancel_replay: post(['webhooks'], {
    summary: 'Cancel a replay. Its open deliveries are skipped. One that has ended stays as it is.',
    input: z.strictObject({ replay_id: replayId }),
    output: z.object({ replay }),
    errors: ['not_found'],
    example: {
      input: { replay_id: 1 },
      output: { replay: { ...heldReplay, status: 'cancelled', finished_at: at } },
    },
  }),
  replays: get(['webhooks'], {
    summary: 'List the replays of a webhook with their progress, the newest first.',
    input: z.strictObject({
      webhook_id: webhookId,
      before_id: replayId.optional().meta({ description: 'only replays with a lower id' }),
      limit: pageLimit(limits.page),
    }),
    output: z.object({ replays: z.array(replay), has_more: hasMore }),
    errors: ['not_found'],
    example: { input: { webhook_id: 1 }, output: { replays: [heldReplay], has_more: false } },
  }),
  delete: post(['webhooks'], {
    summary: 'Delete a webhook. Open deliveries are skipped. Its deliveries stay readable until they expire.',
    input: z.strictObject({ webhook_id: webhookId }),
    output: z.object({ webhook_id: webhookId }),
    errors: ['not_found'],
    example: { input: { webhook_id: 1 }, output: { webhook_id: 1 } },
  }),
});
