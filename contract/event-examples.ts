import type { z } from 'zod';
import type { EventName, events } from './events.ts';

/**
 * An example of the data of each event, with the people and chats of the examples of the operations. `webhooks.test` sends
 * them, and the console shows them. `npm run docs` copies them to the SDK.
 */
export const eventExamples: { readonly [E in EventName]: z.input<(typeof events)[E]['data']> } = {
  new_message: { message_id: 3, chat_id: 1, user_id: 3, content: 'The launch is on Friday' },
  message_edited: {
    message_id: 3,
    chat_id: 1,
    user_id: 3,
    content: 'The launch is on Monday',
    previous_content: 'The launch is on Friday',
  },
  message_deleted: { message_id: 3, chat_id: 1, user_id: 3, actor_id: 1 },
  user_joined: { chat_id: 1, user_id: 3, actor_id: 1 },
  user_left: { chat_id: 1, user_id: 3, actor_id: 3 },
  group_created: { chat_id: 1, name: 'Launch', user_id: 1, participants: [1, 2, 3] },
  channel_created: { chat_id: 2, name: 'Announcements', user_id: 1, participants: [1, 2] },
  direct_created: { chat_id: 5, user_id: 1, participants: [1, 2] },
  chat_updated: { chat_id: 1, user_id: 1, name: 'Launch', description: 'Until Friday', visibility: 'private' },
  role_changed: { chat_id: 1, user_id: 2, actor_id: 1, role: 'admin', previous_role: 'member' },
  user_updated: {
    chat_id: 1,
    user_id: 2,
    name: 'bob',
    display_name: 'Bob',
    status_text: 'On a train',
    time_zone: 'Europe/London',
    avatar_url: null,
  },
  reaction_added: { message_id: 3, chat_id: 1, user_id: 2, emoji: '🎉' },
  reaction_removed: { message_id: 3, chat_id: 1, user_id: 2, emoji: '🎉' },
  message_pinned: { message_id: 3, chat_id: 1, user_id: 1 },
  message_unpinned: { message_id: 3, chat_id: 1, user_id: 1 },
  preferences_changed: {
    user_id: 1,
    preferences: { chat_id: 1, notify: 'mentions', muted_until: null, archived: false, pinned: false },
  },
  webhook_disabled: { webhook_id: 1, user_id: 1, url: 'https://example.com/hook', reason: 'gone' },
};
