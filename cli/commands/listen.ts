import { buildContract, defaultLimits, eventNames } from '@parley/contract';
import { validate } from '@parley/server/http/validate.ts';
import { chatReference, idOf } from '../chat-reference.ts';
import { defineCommand, type Read, UsageError } from '../command.ts';
import { openConnection } from '../connection.ts';
import { eventFilters } from '../listen/event-filters.ts';
import { forward } from '../listen/forward.ts';
import { tail } from '../listen/tail.ts';
import { runUntilSignal } from '../signals.ts';
import { connection, cursor, httpUrl, list, text } from '../values.ts';

/** Returns the cursor before an event id. */
const startingAt: Read<number | 'now'> = (typed) => (typed === 'now' ? typed : Math.max(cursor(typed) - 1, 0));

export const command = defineCommand({
  arguments: {},
  options: {
    forward: { value: 'url', summary: 'Send each event to this URL by POST, as a webhook would.', read: httpUrl },
    secret: {
      value: 'text',
      summary: 'Sign with this secret. It is saved for the next start. Defaults to a random one.',
      read: text,
    },
    events: { value: 'a,b', summary: 'Only events with these names. Defaults to all.', read: list },
    chat: { value: 'chat', summary: 'Only events of this chat.', read: chatReference },
    from: {
      value: 'event_id',
      summary: 'Start with this event. 0 starts with the oldest, now with the next one.',
      read: startingAt,
    },
    json: { summary: 'Print each event as one line of JSON.' },
    ...connection,
  },
  notes: `It runs until you stop it (Ctrl-C).

It starts with the next event. With --forward it does so only the first time. From then on it resumes where it stopped:
it sends the events that happened meanwhile, and none that was accepted. The position is saved in ~/.local/state/parley
(or $XDG_STATE_HOME/parley), separately for each server, user, URL, --events and --chat.

Forwarded events have the body, headers and signatures of webhook deliveries, so you can test an endpoint on your own
machine without a public URL. They are sent one at a time, in order. A response other than 2xx, or none within
15 seconds, is a failure. The event is then sent again after 1, 2, 5 and then every 10 seconds until it is accepted.

Events: ${eventNames.join(', ')}.`,
  async run(_, options, context) {
    const events = eventFilters(options.events);
    const secret = checkSecret(options);
    if (options.json && options.forward) throw new UsageError('Give --json or --forward, not both.');
    const { server, client } = openConnection(options, context);
    await runUntilSignal(context, async (task) => {
      const { user } = await client.users.me({}, { signal: task.signal });
      const filters = { chat_id: await idOf(client, options.chat), ...events };
      const subscription = { server, client, user, filters, from: options.from, task, context };
      if (options.forward) await forward(subscription, options.forward, secret);
      else await tail(subscription, options);
    });
  },
});

const { register } = buildContract(defaultLimits).webhooks;

/** Refuses a secret that a webhook would refuse. */
function checkSecret(options: { secret: string | undefined; forward: URL | undefined }): string | undefined {
  if (options.secret === undefined) return undefined;
  if (!options.forward) throw new UsageError('--secret requires --forward.');
  return validate(register.input.pick({ secret: true }), { secret: options.secret }).secret;
}
