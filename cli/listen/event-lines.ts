import { type EventData, type EventName, eventNames, eventTable } from '@parley/contract';
import type { Environment } from '../context.ts';
import type { Lookup } from '../lookups.ts';
import { fileLine } from '../message-lines.ts';
import { columns, jsonLine, lines, localSecond, oneLine } from '../output.ts';
import type { LoggedEvent } from './follow.ts';

export interface Lookups {
  readonly names: Lookup;
  readonly titles: Lookup;
}

const maxNameLength = Math.max(...eventNames.map((name) => name.length));

/** Returns the name of an event, padded to the longest name. Lines are printed one at a time and have to align. */
export const eventColumn = (event: string): string => oneLine(event).padEnd(maxNameLength);

/** Returns an event as lines: id, time, name, chat, user and text. An event that only a newer server knows is shown as JSON. */
export async function eventLines(logged: LoggedEvent, { names, titles }: Lookups, env: Environment): Promise<string[]> {
  const { event, data } = logged;
  const { chat_id } = data;
  const name = eventNames.find((known) => known === event);
  const known = name && eventTable[name].data.safeParse(data).data;
  const text = known ? await (texts[name] as Text<EventName>)(known, names) : jsonLine(data);
  const [first = '', ...more] = lines(text);
  if (typeof chat_id === 'number' && event === 'chat_updated') titles.forget(chat_id);
  const start = [
    String(logged.event_id),
    localSecond(logged.timestamp, env),
    eventColumn(event),
    ...(typeof chat_id === 'number' ? [await titles.of(chat_id)] : []),
    ...(known ? [await names.of(userIn(name, known))] : []),
  ].map(oneLine);
  return columns([[...start, first], ...more.map((line) => [...start.map(() => ''), line])]);
}

/** Returns the user who acted or who is affected. */
const userIn = (event: EventName, data: EventData): number =>
  event === 'message_deleted' && 'actor_id' in data ? data.actor_id : data.user_id;

type Text<E extends EventName> = (data: EventData<E>, names: Lookup) => string | Promise<string>;

const by = async (names: Lookup, done: string, data: { user_id: number; actor_id: number }) =>
  data.actor_id === data.user_id ? '' : `${done} ${await names.of(data.actor_id)}`;

const created: Text<'group_created' | 'channel_created'> = ({ name, participants }) =>
  `${oneLine(name)}, participants: ${participants.length}`;

const texts: { readonly [E in EventName]: Text<E> } = {
  new_message: ({ message_id, reply_to, content, file, files = file ? [file] : [] }) => {
    const said = [content, ...files.map(fileLine)].filter((part) => part !== '').join('\n');
    return `message ${message_id}${reply_to === undefined ? '' : `, a reply to ${reply_to}`}: ${said}`;
  },
  message_edited: ({ message_id, content }) => `message ${message_id}: ${content}`,
  message_deleted: async ({ message_id, user_id, actor_id }, names) =>
    actor_id === user_id ? `message ${message_id}` : `message ${message_id} of ${await names.of(user_id)}`,
  user_joined: (data, names) => by(names, 'added by', data),
  user_left: (data, names) => by(names, 'removed by', data),
  group_created: created,
  channel_created: created,
  direct_created: async ({ user_id, participants }, names) => {
    const others = participants.filter((id) => id !== user_id);
    return `with ${(await Promise.all(others.map((id) => names.of(id)))).join(', ')}`;
  },
  chat_updated: ({ name, description, visibility }) =>
    `${oneLine(name)} (${visibility})${description === '' ? '' : `: ${description}`}`,
  role_changed: async (data, names) => `${data.previous_role} to ${data.role} ${await by(names, 'by', data)}`.trim(),
  user_updated: ({ display_name, status_text, time_zone }) =>
    [display_name, status_text, time_zone ?? '']
      .filter((part) => part !== '')
      .map(oneLine)
      .join(', '),
  reaction_added: ({ message_id, emoji }) => `${oneLine(emoji)} to message ${message_id}`,
  reaction_removed: ({ message_id, emoji }) => `${oneLine(emoji)} from message ${message_id}`,
  message_pinned: ({ message_id }) => `message ${message_id}`,
  message_unpinned: ({ message_id }) => `message ${message_id}`,
  preferences_changed: ({ preferences: { chat_id, notify, muted_until, archived, pinned } }) => {
    const chosen = [
      `notify ${notify}`,
      muted_until && `muted until ${muted_until}`,
      archived && 'archived',
      pinned && 'pinned',
    ];
    return `chat ${chat_id}: ${chosen.filter((choice) => choice).join(', ')}`;
  },
  webhook_disabled: ({ webhook_id, url, reason }) => `webhook ${webhook_id} to ${oneLine(url)}: ${reason}`,
};
