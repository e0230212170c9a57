import type { LoggedEvent } from '@parley-chat/sdk';
import type { LogFilter } from './event-tail.ts';

/** The filters of the event inspector, as in its URL. */
export interface EventFilters extends LogFilter {
  /** Part of the JSON. Only rows that are loaded are compared. */
  readonly words: string;
  /** The event that is shown in full. */
  readonly eventId: number | undefined;
}

/** Returns the filters of a query. Values that cannot be are left out. */
export function readEventFilters(query: string): EventFilters {
  const values = new URLSearchParams(query);
  const id = (name: string) => Number(/^\d{1,15}$/.exec(values.get(name) ?? '')?.[0]) || undefined;
  return {
    event: /^[\w.:-]{1,64}$/.exec(values.get('event') ?? '')?.[0],
    chatId: id('chat'),
    words: values.get('q') ?? '',
    eventId: id('id'),
  };
}

/** Returns the path of the inspector with filters. */
export function eventsPath({ event, chatId, words, eventId }: Partial<EventFilters> = {}): string {
  const values = Object.entries({ event, chat: chatId, q: words || undefined, id: eventId });
  const query = new URLSearchParams(
    values.flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]])),
  );
  return `/console/events${query.size === 0 ? '' : `?${query}`}`;
}

/** Returns whether an event has these words, in its name or data. */
export const hasWords = (event: LoggedEvent, words: string): boolean =>
  words.trim() === '' || JSON.stringify(event).toLowerCase().includes(words.trim().toLowerCase());

/** Returns the chat that an event is about, if it is about one. */
export const chatOf = ({ data }: LoggedEvent): number | null =>
  typeof data.chat_id === 'number' ? data.chat_id : null;
