import { z } from 'zod';
import { chatId, displayName, hookId, idempotencyKey, text, userId } from '../fields.ts';
import type { Limits } from '../limits.ts';
import { get, post } from '../operation.ts';
import { hook } from '../records.ts';
import { helper } from './bots.ts';

const helping = {
  hook_id: 1,
  chat_id: 1,
  bot: helper,
  created_by: 1,
  active: true,
  created_at: '2026-01-01T12:00:00.000Z',
  last_used_at: null,
};

/** Our own form of a post to the URL of an incoming webhook. */
export const hookPost = ({ contentBytes }: Pick<Limits, 'contentBytes'>) =>
  z.strictObject({
    content: text({ min: 1, maxBytes: contentBytes }).meta({ description: 'the message, in Markdown' }),
    idempotency_key: idempotencyKey.optional(),
  });

export const hooks = (_limits: Limits) => ({
  create: post([], {
    summary:
      'Create an incoming webhook of a group or channel in which you may post. Its URL is a secret, and is shown only once. It works while you may post in the chat.',
    // It outlives every access token.
    inBrowser: true,
    input: z.strictObject({
      chat_id: chatId,
      name: displayName.optional().meta({ description: 'the display name of a new bot that it posts as' }),
      user_id: userId.optional().meta({ description: 'one of your bots that it posts as' }),
    }),
    output: z.object({
      hook,
      url: z.string().meta({ description: 'takes posts from anybody who knows it' }),
    }),
    errors: ['not_found', 'forbidden', 'conflict'],
    example: {
      input: { chat_id: 1, name: 'Grafana' },
      output: {
        hook: {
          ...helping,
          hook_id: 2,
          bot: { ...helper, user_id: 5, name: 'grafana-bot', display_name: 'Grafana' },
        },
        url: 'http://127.0.0.1:8080/hooks/hook_EXAMPLE',
      },
    },
  }),
  list: get(['webhooks'], {
    summary:
      'List the incoming webhooks of a chat that you are in, or yours in all chats. Their URLs are never shown again.',
    input: z.strictObject({
      chat_id: chatId.optional().meta({ description: 'only those of this chat, whoever created them' }),
    }),
    output: z.object({ hooks: z.array(hook) }),
    errors: ['not_found', 'forbidden'],
    example: { input: { chat_id: 1 }, output: { hooks: [helping] } },
  }),
  revoke: post(['webhooks'], {
    summary:
      'Revoke an incoming webhook, at once: one of yours, or any of a chat whose participants you manage. A bot that was created for it is disabled with the last of its webhooks.',
    input: z.strictObject({ hook_id: hookId }),
    output: z.object({ hook_id: hookId }),
    errors: ['not_found', 'forbidden'],
    example: { input: { hook_id: 1 }, output: { hook_id: 1 } },
  }),
});
