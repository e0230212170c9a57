import { buildContract, defaultLimits, type EventName, eventNames } from '@parley/contract';
import { validate } from '@parley/server/http/validate.ts';
import { serverAddress } from '../address.ts';
import { defineCommand, type Read } from '../command.ts';
import { connect } from '../connection.ts';
import type { Filters } from '../follow.ts';
import { forward } from '../forward.ts';
import { nearest } from '../nearest.ts';
import { tail } from '../tail.ts';
import { untilStopped } from '../until-stopped.ts';
import { UsageError } from '../usage.ts';
import { connection, cursor, httpAddress, list, positive, text } from '../values.ts';

const place: Read<number | 'now'> = (typed) => (typed === 'now' ? typed : cursor(typed));

export const command = defineCommand({
  arguments: {},
  options: {
    forward: {
      value: 'address',
      summary: 'Send each event there by POST, as a webhook would, in place of showing it.',
      read: httpAddress,
    },
    secret: {
      value: 'text',
      summary: 'Sign with this secret; one is made where it is not given. It is kept for the next start.',
      read: text,
    },
    events: { value: 'a,b', summary: 'Only events of these names; all where it is not given.', read: list },
    chat: { value: 'chat_id', summary: 'Only events of this chat.', read: positive },
    from: {
      value: 'event_id',
      summary: 'Begin with this event; 0 begins with the oldest that is kept, now with the next that happens.',
      read: place,
    },
    json: { summary: 'Print each event as one line of JSON.' },
    ...connection,
  },
  notes: `It runs until it is told to stop (Ctrl-C).

It begins with the next event that happens. With --forward it begins so only once, and from then on goes on where it
stopped: what happened meanwhile is sent, what was accepted is not sent again. Where it stands is kept in
~/.local/state/parley (or $XDG_STATE_HOME/parley), apart for each server, user, address, --events and --chat.

Forwarded events have the body, the headers and the signatures of a webhook's deliveries, so an endpoint on your
own machine needs no public address. They are sent one at a time, in order. An answer other than 2xx, or none within
15 seconds, is a failure: the same event is sent again after 1, 2, 5 and then every 10 seconds, until it is accepted.

The events: ${eventNames.join(', ')}.`,
  async run(_, options, context) {
    const filters = { chat_id: options.chat, events: knownEvents(options.events) };
    const secret = checkSecret(options);
    if (options.json && options.forward) throw new UsageError('Give --json or --forward, not both.');
    const server = serverAddress(options.url, context.env);
    const client = connect({ url: server, token: options.token }, context);
    await untilStopped(context, async (running) => {
      const { user } = await client.users.me({}, { signal: running.signal });
      const listening = { server, client, user, filters, from: before(options.from), running, context };
      if (options.forward) await forward(listening, options.forward, secret);
      else await tail(listening, options.json);
    });
  },
});

/** The cursor after which a place begins. */
function before(from: number | 'now' | undefined): number | 'now' | undefined {
  return typeof from === 'number' ? Math.max(from - 1, 0) : from;
}

function knownEvents(typed: readonly string[] | undefined): Filters['events'] {
  return typed && [...new Set(typed.map(knownEvent))].sort();
}

function knownEvent(typed: string): EventName {
  const known = eventNames.find((name) => name === typed);
  if (known) return known;
  const meant = nearest(typed, eventNames);
  throw new UsageError(`There is no event ${JSON.stringify(typed)}.${meant ? ` Did you mean ${meant}?` : ''}`);
}

const { register } = buildContract(defaultLimits).webhooks;

/** What a webhook would refuse is refused here too: this stands in for one. */
function checkSecret(options: { secret: string | undefined; forward: URL | undefined }): string | undefined {
  if (options.secret === undefined) return undefined;
  if (!options.forward) throw new UsageError('--secret is for --forward.');
  return validate(register.input.pick({ secret: true }), { secret: options.secret }).secret;
}
