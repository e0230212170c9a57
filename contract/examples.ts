import { pictureFile } from './example-files.ts';
import type { OperationName } from './table.ts';

/**
 * The calls before the examples of the rows, in this order. Users 1 (ada, an administrator), 2 (bob) and 3 (cleo) exist, with a
 * token each. Every example is a call by ada. Calls of pages have the session of her browser. No server listens at the URL of the webhook.
 */
export const exampleCalls: readonly { by: 'ada' | 'bob' | 'cleo'; call: OperationName; input: object }[] = [
  { by: 'ada', call: 'files.upload', input: { file: new File(['Hello, file\n'], 'hello.txt') } },
  { by: 'ada', call: 'files.upload', input: { file: pictureFile() } },
  { by: 'cleo', call: 'users.set_avatar', input: { file: pictureFile() } },
  { by: 'ada', call: 'messages.create_group', input: { name: 'Launch', participants: [2, 3] } },
  { by: 'ada', call: 'messages.create_channel', input: { name: 'Announcements', participants: [2] } },
  { by: 'bob', call: 'messages.create_group', input: { name: 'Lunch', participants: [1] } },
  { by: 'bob', call: 'messages.create_channel', input: { name: 'Random' } },
  { by: 'ada', call: 'messages.send_message', input: { chat_id: 1, content: 'Hello, world' } },
  { by: 'bob', call: 'messages.send_message', input: { chat_id: 1, content: 'Hi @ada!', reply_to: 1 } },
  {
    by: 'ada',
    call: 'webhooks.register',
    input: { url: 'http://127.0.0.1:9/hook', events: ['new_message'], secret: 'a secret of yours' },
  },
  { by: 'cleo', call: 'messages.send_message', input: { chat_id: 1, content: 'The launch is on Friday' } },
  { by: 'cleo', call: 'messages.add_reaction', input: { message_id: 1, emoji: '👋' } },
  { by: 'ada', call: 'messages.add_reaction', input: { message_id: 1, emoji: '🎉' } },
  {
    by: 'ada',
    call: 'push.subscribe',
    input: {
      endpoint: 'http://127.0.0.1:9/push/1',
      p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
      auth: 'BTBZMqHH6r4Tts7J_aSIgg',
    },
  },
  { by: 'ada', call: 'tokens.create', input: { name: 'spare', scopes: ['messages:read'] } },
  {
    by: 'ada',
    call: 'apps.register',
    input: { name: 'Calendar', redirects: ['https://calendar.example/callback'] },
  },
  {
    by: 'ada',
    call: 'apps.register',
    input: { name: 'Reminder', redirects: ['https://reminder.example/callback'], confidential: true },
  },
  { by: 'ada', call: 'invitations.create', input: { note: 'For Grace' } },
  // It waits, because the endpoint is down.
  { by: 'ada', call: 'webhooks.replay', input: { webhook_id: 1, from_event_id: 1 } },
  { by: 'ada', call: 'bots.create', input: { name: 'helper', display_name: 'Helper' } },
  {
    by: 'ada',
    call: 'bots.create_token',
    input: { user_id: 4, name: 'helper', scopes: ['messages:read', 'messages:write'] },
  },
  { by: 'ada', call: 'hooks.create', input: { chat_id: 1, user_id: 4 } },
];
