import { buildContract, defaultLimits, errors, eventTable, signalTable } from '@parley/contract';
import { settingsTable } from '@parley/server/config.ts';
import type { z } from 'zod';
import { outputTable, type Schema } from './fields.ts';
import { anchor, json, page, table } from './markdown.ts';

const intro = `Every change in a chat writes an event to the log, in the same transaction. A call that changes nothing
writes none, and neither do read markers. Read the log with [events.list](api.md#eventslist), follow it with
[a stream](../streams.md), or receive it through [webhooks](../webhooks.md). All three have the same events with the same
ids.`;

const order = `Event ids rise in commit order: after a reader has seen an id, no lower id ever appears. One number is
therefore a complete cursor. Pass \`next\` of one page as \`after\` of the next, and you see every event exactly once.`;

const visibility = `You see an event if you were a member of its chat when it happened. The events of your own joining and
leaving are included. A user who joins later can read older messages with
[get_messages](api.md#messagesget_messages), but not older events. A user who has left keeps access to the events of the
time before.`;

const retention = `Events are kept for ${settingsTable.eventDays.fallback} days, or [PARLEY_EVENT_DAYS](settings.md). The text of a deleted message,
and the text before an edit, stay in their events until the events are deleted. A request with an older cursor fails with ${errors.cursor_expired.status}
\`cursor_expired\`. ${errors.cursor_expired.when} [More](../streams.md#expired-cursors).`;

const signals = `[Streams](../streams.md) also carry signals. They have the format of events but are not stored. They have no
id, and webhooks and \`events.list\` do not have them. A client that is not connected misses them.`;

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
    '## Payload',
    'An event has exactly these three fields. They never change after the event is written:',
    json(exampleBody()),
    '`events.list` adds `event_id` to each event. A stream carries it as `id`.',
    '## Order',
    order,
    '## Visibility',
    visibility,
    '## Retention',
    retention,
    '## Event data',
    ...dataTables(eventRows),
    '## Signals',
    signals,
    whenTable('Signal', signalRows),
    ...dataTables(signalRows),
  ]);
}

/** The first event in the example of `events.list`. */
function exampleBody(): object {
  const { events } = buildContract(defaultLimits).events.list.example.output;
  return events.map(({ event_id, ...body }) => body)[0] ?? {};
}
