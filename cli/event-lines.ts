import { type EventData, type EventName, eventNames, eventTable } from '@parley/contract';
import type { ChatTitles } from './chat-titles.ts';
import type { Environment } from './context.ts';
import { fileLine } from './file-line.ts';
import type { LoggedEvent } from './follow.ts';
import type { Names } from './names.ts';
import { columns } from './table.ts';
import { jsonLine, lines, localTime, oneLine } from './terminal.ts';

export interface LookUp {
  readonly names: Names;
  readonly titles: ChatTitles;
}

/** `2026-01-01 13:00:05`, in the time zone of whoever reads it. */
export const localSecond = (iso: string, env: Environment): string => `${localTime(iso, env)}${iso.slice(16, 19)}`;

const widest = Math.max(...eventNames.map((name) => name.length));

/** The name of an event in a column of its own: events come one at a time, so their lines cannot wait for each other. */
export const eventColumn = (event: string): string => oneLine(event).padEnd(widest);

/** An event as people read it: which, when, where, who and what; the further lines of a text below its beginning. */
export async function eventLines(logged: LoggedEvent, lookUp: LookUp, env: Environment): Promise<string[]> {
  const { who, what } = tell(logged);
  const { chat_id } = logged.data;
  const [first = '', ...more] = lines(await what(lookUp.names));
  const start = [
    String(logged.event_id),
    localSecond(logged.timestamp, env),
    eventColumn(logged.event),
    ...(typeof chat_id === 'number' ? [await titleOf(chat_id, logged.event, lookUp.titles)] : []),
    ...(who === undefined ? [] : [await lookUp.names.of(who)]),
  ].map(oneLine);
  return columns([[...start, first], ...more.map((line) => [...start.map(() => ''), line])]);
}

function titleOf(chatId: number, event: string, titles: ChatTitles): Promise<string> {
  if (event === 'chat_updated') titles.forget(chatId);
  return titles.of(chatId);
}

interface Told {
  /** Whose doing it was, or whom it befell. */
  readonly who: number | undefined;
  readonly what: (names: Names) => string | Promise<string>;
}

type Teller<E extends EventName> = (data: EventData<E>) => Told;

const by = async (names: Names, done: string, data: { user_id: number; actor_id: number }) =>
  data.actor_id === data.user_id ? '' : `${done} ${await names.of(data.actor_id)}`;

const created: Teller<'group_created' | 'channel_created'> = ({ user_id, name, participants }) => ({
  who: user_id,
  what: () => `${oneLine(name)}, participants: ${participants.length}`,
});

const tellers: { readonly [E in EventName]: Teller<E> } = {
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

/** What a newer server sends and this version does not know is shown as it came. */
function tell({ event, data }: LoggedEvent): Told {
  const name = eventNames.find((known) => known === event);
  const read = name && eventTable[name].data.safeParse(data);
  if (!name || !read?.success) return { who: undefined, what: () => jsonLine(data) };
  return (tellers[name] as Teller<EventName>)(read.data);
}
