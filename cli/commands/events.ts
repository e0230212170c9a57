import { eventNames } from '@parley/contract';
import { program } from '@parley/server/lib/program.ts';
import { chatReference, idOf } from '../chat-reference.ts';
import { defineCommand } from '../command.ts';
import { openConnection } from '../connection.ts';
import { eventFilters } from '../listen/event-filters.ts';
import { tail } from '../listen/tail.ts';
import { runUntilSignal } from '../signals.ts';
import { connection, list, moment } from '../values.ts';

export const tailEvents = defineCommand({
  arguments: {},
  options: {
    since: {
      value: 'time',
      summary: 'Start with the events since a time (2026-01-31T12:00) or an age (15m). Defaults to new ones.',
      read: moment,
    },
    chat: { value: 'chat', summary: 'Only events of this chat.', read: chatReference },
    event: { value: 'a,b', summary: 'Only events with these names. Defaults to all.', read: list },
    json: { summary: 'Print each event as one line of JSON.' },
    ...connection,
  },
  notes: `It runs until you stop it (Ctrl-C). After a lost connection it goes on where it was, without a gap or a repeat.

To start with an event id, or to forward events to a URL: ${program} listen.

Events: ${eventNames.join(', ')}.`,
  async run(_, { since, chat, event, json, ...where }, context) {
    const events = eventFilters(event);
    const { server, client } = openConnection(where, context);
    await runUntilSignal(context, async (task) => {
      const { user } = await client.users.me({}, { signal: task.signal });
      const filters = { chat_id: await idOf(client, chat), ...events };
      await tail({ server, client, user, filters, from: undefined, task, context }, { json, since });
    });
  },
});
