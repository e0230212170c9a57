import type { EventName } from '@parley-chat/sdk';

const events: Readonly<Record<EventName, string>> = {
  new_message: 'A new message appears in a chat.',
  message_edited: 'A message is edited.',
  message_deleted: 'A message is deleted.',
  message_pinned: 'A message is pinned in its chat.',
  message_unpinned: 'A message is unpinned.',
  reaction_added: 'Somebody reacts to a message.',
  reaction_removed: 'Somebody takes a reaction back.',
  user_joined: 'A user joins a group or channel, or is added to it.',
  user_left: 'A user leaves a group or channel, or is removed from it.',
  role_changed: 'The role of a participant changes.',
  user_updated: 'The profile of a participant changes.',
  group_created: 'A new group is created.',
  channel_created: 'A new channel is created.',
  direct_created: 'A new direct chat is created.',
  chat_updated: 'The name, description or visibility of a chat changes.',
  preferences_changed: 'You change your own preferences for a chat.',
  webhook_disabled: 'One of your other webhooks is disabled.',
};

/** The page of events, and their names. */
export const eventWords = {
  events,
  nouns: {
    messages: 'Messages',
    reactions: 'Reactions',
    people: 'People',
    chats: 'Chats',
    you: 'Your account',
  },

  inspector: {
    title: 'Events',
    about: 'The log of your chats, as streams and webhooks tell it. New events appear by themselves.',
    list: 'Newest events',
    pause: 'Pause',
    resume: 'Resume',
    paused: 'Paused. New events appear when you resume.',
    failed: 'The events could not be loaded.',
    olderFailed: 'Older events could not be loaded.',
    empty: 'No events',
    emptyHint: 'Nothing has happened yet in the chats that you chose. Write a message, and it appears here.',
    emptyWords: 'None of the loaded events has these words. Look among older ones.',
    filters: { label: 'Filters', event: 'Event', words: 'Text in JSON' },
    eventTitle: (id: number) => `Event ${id}`,
    close: 'Close the event',
    missing: 'There is no such event. It has expired, or you may not see it.',
    facts: { event: 'Event', chat: 'Chat', time: 'Time' },
    json: 'JSON',
    copyJson: 'Copy as JSON',
    fetch: 'Fetch this event',
    send: 'Send to my webhook',
  },

  sendEvent: {
    title: 'Send the event to a webhook',
    about:
      'Your endpoint gets the exact body of this event now, signed as always. It is a test: nothing is retried or logged.',
    webhook: 'Webhook',
    act: 'Send',
    none: 'You have no webhook yet.',
    refusals: { not_found: 'This webhook is for another chat, or the event has expired.' },
    create: 'Create one',
  },
};
