import { buildContract, defaultLimits, type EventName, eventTable } from '@parley/contract';
import { settingsTable } from '@parley/server/config.ts';
import { outputTable, type Schema } from './fields.ts';
import { anchor, json, page, table } from './markdown.ts';

const intro = `What happens in a chat leaves an event in the log, written in the same transaction as the change. A change
that changes nothing leaves none, and read markers leave none. Read the log with [events.list](api.md#eventslist).
[Webhooks](../webhooks.md) push the same events. A live stream over the same log is coming.`;

const order = `Event ids rise in the order of commits: a reader that has seen an id will never find a lower one later. So
one number is enough to go on from. Pass \`next\` of one page as \`after\` of the next, and nothing is seen twice or missed.`;

const seen = `You see an event if you were in its chat when it happened. The events of your own joining and leaving count
as inside. Somebody who joins later reads older messages with [get_messages](api.md#messagesget_messages), but does not
get older events. Somebody who has left keeps the events of the time before.`;

const kept = `Events are kept for ${settingsTable.eventDays.fallback} days unless [PARLEY_EVENT_DAYS](settings.md) says otherwise. The text of a deleted
message, and the text before an edit, stay in the events that told of them until these are dropped. A cursor from before
the oldest event kept gives \`cursor_expired\`; 0 always starts at the oldest.`;

export function eventsPage(): string {
  const entries = Object.entries(eventTable) as [EventName, (typeof eventTable)[EventName]][];
  return page('Events', [
    intro,
    table(
      ['Event', 'Occurs when'],
      entries.map(([name, { when }]) => [`[${name}](#${anchor(name)})`, when]),
    ),
    '## The body of an event',
    `These three fields and no more, frozen when the event is written:`,
    json(exampleBody()),
    'The list of events adds `event_id` to each.',
    '## Order',
    order,
    '## Who sees what',
    seen,
    '## How long',
    kept,
    '## Data of each event',
    ...entries.flatMap(([name, { data }]) => [`### ${name}`, outputTable(data.toJSONSchema() as Schema)]),
  ]);
}

/** The one that the events operation has as its example. */
function exampleBody(): object {
  const { events } = buildContract(defaultLimits).events.list.example.output;
  return events.map(({ event_id, ...body }) => body)[0] ?? {};
}
