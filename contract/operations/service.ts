import { z } from 'zod';
import { chatId, title } from '../fields.ts';
import type { Limits } from '../limits.ts';
import { get, post } from '../operation.ts';
import { service } from '../records.ts';

export const serviceOperations = (_limits: Limits) => ({
  get: get(['chats:read'], {
    summary: 'Read what this service is called, and which chat new people join.',
    input: z.strictObject({}),
    output: z.object({ service }),
    errors: [],
    example: { input: {}, output: { service: { name: 'Parley', welcome_chat_id: null } } },
  }),
  update: post(['admin'], {
    summary: 'Name the service, and choose the chat that new people join. Fields that are left out stay as they are.',
    input: z.strictObject({
      name: title.optional(),
      welcome_chat_id: chatId.nullable().optional().meta({
        description:
          'a group or channel whose participants you manage; everybody who signs up from now on joins it. Null for none',
      }),
    }),
    output: z.object({ service }),
    errors: ['not_found', 'forbidden'],
    example: {
      input: { name: 'Lovelace Ltd', welcome_chat_id: 1 },
      output: { service: { name: 'Lovelace Ltd', welcome_chat_id: 1 } },
    },
  }),
});
