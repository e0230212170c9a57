import { buildContract, defaultLimits, eventTable, signalTable } from '@parley/contract';
import { settingsTable } from '@parley/server/config.ts';
import type { z } from 'zod';
import { outputTable, type Schema } from './fields.ts';
import { anchor, json, page, table } from './markdown.ts';

const intro = `What happens in a chat leaves an event in the log, written in the same transaction as the change. A change
that changes nothing leaves none, and read markers leave none. Read the log with [events.list](api.md#eventslist), follow it
with [a stream](../streams.md), or have it pushed by [webhooks](../webhooks.md): they all have the same events under the same ids.`;

const order = `Event ids rise in the order of commits: a reader that has seen an id will never find a lower one later. So
one number is enough to go on from. Pass \`next\` of one page as \`after\` of the next, and nothing is seen twice or missed.`;

const seen = `You see an event if you were in its chat when it happened. The events of your own joining and leaving count
as inside. Somebody who joins later reads older messages with [get_messages](api.md#messagesget_messages), but does not
get older events. Somebody who has left keeps the events of the time before.`;

const kept = `Events are kept for ${settingsTable.eventDays.fallback} days unless [PARLEY_EVENT_DAYS](settings.md) says otherwise. The text of a deleted
message, and the text before an edit, stay in the events that told of them until these are dropped. A cursor from before
the oldest event kept gives \`cursor_expired\`; 0 always starts at the oldest.`;

const signals = `[Streams](../streams.md) also tell signals. They have the form of events, but the log does not keep them: who is not
listening misses them, webhooks and \`events.list\` do not have them, and they have no id.`;

type Row = readonly [name: string, { readonly when: string; readonly data: z.ZodType }];

const whenTable = (kind: string, rows: readonly Row[]): string =>
  table(
    [kind, 'Occurs when'],
    rows.map(([name, { when }]) => [`[${name}](#${anchor(name)})`, when]),
  );

const dataTables = (rows: readonly Row[]): string[] =>
  rows.flatMap(([name, { data }]) => [`### ${name}`, outputTable(data.toJSONSchema() as Schema)]);

export function eventsPage(): string {
  const eventRows = Object.entries(eventTable);
  const signalRows = Object.entries(signalTable);
  return page('Events', [
    intro,
    whenTable('Event', eventRows),
    '## The body of an event',
    `These three fields and no more, frozen when the event is written:`,
    json(exampleBody()),
    'The list of events adds `event_id` to each, and a stream has it as `id`.',
    '## Order',
    order,
    '## Who sees what',
    seen,
    '## How long',
    kept,
    '## Data of each event',
    ...dataTables(eventRows),
    '## Signals',
    signals,
    whenTable('Signal', signalRows),
    ...dataTables(signalRows),
  ]);
}

/** The one that the events operation has as its example. */
function exampleBody(): object {
  const { events } = buildContract(defaultLimits).events.list.example.output;
  return events.map(({ event_id, ...body }) => body)[0] ?? {};
}
