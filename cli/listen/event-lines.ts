import { type EventData, type EventName, eventNames, eventTable } from '@parley/contract';
import type { Environment } from '../context.ts';
import type { Lookup } from '../lookups.ts';
import { fileLine } from '../message-lines.ts';
import { columns } from '../table.ts';
import { jsonLine, lines, localSecond, oneLine } from '../terminal.ts';
import type { LoggedEvent } from './follow.ts';

export interface Lookups {
  readonly names: Lookup;
  readonly titles: Lookup;
}

const maxNameLength = Math.max(...eventNames.map((name) => name.length));

/** Returns the name of an event, padded to the longest name. Lines are printed one at a time and have to align. */
export const eventColumn = (event: string): string => oneLine(event).padEnd(maxNameLength);

/** Returns an event as lines: id, time, name, chat, user and text. */
export async function eventLines(logged: LoggedEvent, lookups: Lookups, env: Environment): Promise<string[]> {
  const { who, what } = describe(logged);
  const { chat_id } = logged.data;
  const [first = '', ...more] = lines(await what(lookups.names));
  const start = [
    String(logged.event_id),
    localSecond(logged.timestamp, env),
    eventColumn(logged.event),
    ...(typeof chat_id === 'number' ? [await titleOf(chat_id, logged.event, lookups.titles)] : []),
    ...(who === undefined ? [] : [await lookups.names.of(who)]),
  ].map(oneLine);
  return columns([[...start, first], ...more.map((line) => [...start.map(() => ''), line])]);
}

function titleOf(chatId: number, event: string, titles: Lookup): Promise<string> {
  if (event === 'chat_updated') titles.forget(chatId);
  return titles.of(chatId);
}

interface Description {
  /** The user who acted or who is affected. */
  readonly who: number | undefined;
  readonly what: (names: Lookup) => string | Promise<string>;
}

type Describe<E extends EventName> = (data: EventData<E>) => Description;

const by = async (names: Lookup, done: string, data: { user_id: number; actor_id: number }) =>
  data.actor_id === data.user_id ? '' : `${done} ${await names.of(data.actor_id)}`;

const created: Describe<'group_created' | 'channel_created'> = ({ user_id, name, participants }) => ({
  who: user_id,
  what: () => `${oneLine(name)}, participants: ${participants.length}`,
});

const descriptions: { readonly [E in EventName]: Describe<E> } = {
  new_message: ({ user_id, message_id, reply_to, content, file }) => ({
    who: user_id,
    what: () => {
      const said = [content, file ? fileLine(file) : ''].filter((part) => part !== '').join('\n');
      return `message ${message_id}${reply_to === undefined ? '' : `, a reply to ${reply_to}`}: ${said}`;
    },
  }),
  message_edited: ({ user_id, message_id, content }) => ({
    who: user_id,
    what: () => `message ${message_id}: ${content}`,
  }),
  message_deleted: (data) => ({
    who: data.actor_id,
    what: async (names) =>
      data.actor_id === data.user_id
        ? `message ${data.message_id}`
        : `message ${data.message_id} of ${await names.of(data.user_id)}`,
  }),
  user_joined: (data) => ({ who: data.user_id, what: (names) => by(names, 'added by', data) }),
  user_left: (data) => ({ who: data.user_id, what: (names) => by(names, 'removed by', data) }),
  group_created: created,
  channel_created: created,
  direct_created: ({ user_id, participants }) => ({
    who: user_id,
    what: async (names) => {
      const others = participants.filter((id) => id !== user_id);
      return `with ${(await Promise.all(others.map((id) => names.of(id)))).join(', ')}`;
    },
  }),
  chat_updated: ({ user_id, name, description, visibility }) => ({
    who: user_id,
    what: () => `${oneLine(name)} (${visibility})${description === '' ? '' : `: ${description}`}`,
  }),
  role_changed: (data) => ({
    who: data.user_id,
    what: async (names) => [`${data.previous_role} to ${data.role}`, await by(names, 'by', data)].join(' ').trim(),
  }),
  reaction_added: ({ user_id, message_id, emoji }) => ({
    who: user_id,
    what: () => `${oneLine(emoji)} to message ${message_id}`,
  }),
  reaction_removed: ({ user_id, message_id, emoji }) => ({
    who: user_id,
    what: () => `${oneLine(emoji)} from message ${message_id}`,
  }),
  webhook_disabled: ({ user_id, webhook_id, url, reason }) => ({
    who: user_id,
    what: () => `webhook ${webhook_id} to ${oneLine(url)}: ${reason}`,
  }),
};

/** An event that only a newer server knows is shown as JSON. */
function describe({ event, data }: LoggedEvent): Description {
  const name = eventNames.find((known) => known === event);
  const read = name && eventTable[name].data.safeParse(data);
  if (!name || !read?.success) return { who: undefined, what: () => jsonLine(data) };
  return (descriptions[name] as Describe<EventName>)(read.data);
}
