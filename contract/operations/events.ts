import { z } from 'zod';
import { eventNames } from '../events.ts';
import { chatId } from '../fields.ts';
import { defaultPage, type Limits } from '../limits.ts';
import { operation } from '../operation.ts';
import { loggedEvent } from '../records.ts';

export const events = (limits: Limits) => ({
  list: operation({
    method: 'GET',
    scope: 'messages:read',
    summary:
      'Read the events of your chats in order. Pass `next` as `after` to go on; 0 starts at the oldest event kept.',
    input: z.strictObject({
      after: z.int().nonnegative().default(0),
      limit: z.int().min(1).max(limits.page).default(defaultPage),
      chat_id: chatId.optional(),
      events: z.array(z.enum(eventNames)).min(1).max(100).optional(),
    }),
    output: z.object({ events: z.array(loggedEvent), next: z.int(), has_more: z.boolean() }),
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
});
