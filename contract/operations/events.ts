import { z } from 'zod';
import { eventStream } from '../event-stream.ts';
import { eventNames, signalNames } from '../events.ts';
import { chatId, count, hasMore, pageLimit } from '../fields.ts';
import type { Limits } from '../limits.ts';
import { get } from '../operation.ts';
import { loggedEvent } from '../records.ts';

export const events = (limits: Limits) => ({
  list: get(['messages:read'], {
    summary:
      'Read the events of your chats in order. Pass `next` as `after` to continue; 0 starts at the oldest event.',
    input: z.strictObject({
      after: z.int().nonnegative().default(0).meta({ description: 'the cursor: `next` of the page before' }),
      limit: pageLimit(limits.page),
      chat_id: chatId.optional().meta({ description: 'only of this chat' }),
      events: z
        .array(z.enum(eventNames))
        .min(1)
        .max(100)
        .optional()
        .meta({ description: 'only events of these names' }),
    }),
    output: z.object({
      events: z.array(loggedEvent),
      next: count.meta({ description: 'the cursor of the next page' }),
      has_more: hasMore,
    }),
    errors: ['not_found', 'cursor_expired'],
    example: {
      input: { after: 0, limit: 1, chat_id: 1, events: ['new_message'] },
      output: {
        events: [
          {
            event_id: 5,
            event: 'new_message',
            timestamp: '2026-01-01T12:00:00.000Z',
            data: { message_id: 1, chat_id: 1, user_id: 1, content: 'Hello, world' },
          },
        ],
        next: 5,
        has_more: true,
      },
    },
  }),
  stream: get(['messages:read'], {
    summary:
      'Follow the events of your chats as they happen, as server-sent events: `id` is the cursor, and `data` the same body that webhooks receive. Without a cursor it starts with new events. A client that reconnects sends its cursor in `Last-Event-ID` and misses nothing. Signals such as `message_read` have no `id` and are not sent again.',
    input: z.strictObject({
      after: z.int().nonnegative().optional().meta({
        description: 'the cursor to start at, unless `Last-Event-ID` is sent; 0 is the oldest event',
      }),
      chat_id: chatId.optional().meta({ description: 'only of this chat' }),
      events: z
        .array(z.enum([...eventNames, ...signalNames]))
        .min(1)
        .max(100)
        .optional()
        .meta({ description: 'only events and signals of these names' }),
    }),
    output: eventStream,
    errors: ['not_found', 'cursor_expired', 'invalid_request'],
    example: {
      input: { after: 0, chat_id: 1, events: ['new_message'] },
      output: `id: 5
event: new_message
data: {"event":"new_message","timestamp":"2026-01-01T12:00:00.000Z","data":{"message_id":1,"chat_id":1,"user_id":1,"content":"Hello, world"}}

`,
    },
  }),
});
