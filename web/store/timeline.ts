import type { MessageRecord } from './records.ts';

/** A part of a chat's messages without gaps, in ascending order of their ids. */
export interface Timeline {
  readonly messages: readonly MessageRecord[];
  readonly hasOlder: boolean;
  readonly hasNewer: boolean;
}

/** A page as the server sends it. */
export interface Page {
  readonly messages: readonly MessageRecord[];
  readonly has_more: boolean;
}

/** So many of the newest messages are loaded when a chat is opened. */
export const pageSize = 50;

/** A view drops messages at the far end of a longer timeline, so that memory stays level in an endless chat. */
export const maxMessages = 1_000;

export const newestPage = ({ messages, has_more }: Page): Timeline => ({
  messages,
  hasOlder: has_more,
  hasNewer: false,
});

/** Puts a page of older messages in front. */
export function prepend(timeline: Timeline, { messages, has_more }: Page): Timeline {
  const first = timeline.messages[0]?.message_id ?? Number.POSITIVE_INFINITY;
  return {
    ...timeline,
    messages: [...messages.filter(({ message_id }) => message_id < first), ...timeline.messages],
    hasOlder: has_more,
  };
}

/** Adds a page of newer messages. */
export function append(timeline: Timeline, { messages, has_more }: Page): Timeline {
  const last = lastId(timeline);
  return {
    ...timeline,
    messages: [...timeline.messages, ...messages.filter(({ message_id }) => message_id > last)],
    hasNewer: has_more,
  };
}

/** Drops messages at one end of a timeline that is too long. */
export function trim(timeline: Timeline, end: 'oldest' | 'newest', max = maxMessages): Timeline {
  if (timeline.messages.length <= max) return timeline;
  return end === 'oldest'
    ? { ...timeline, messages: timeline.messages.slice(-max), hasOlder: true }
    : { ...timeline, messages: timeline.messages.slice(0, max), hasNewer: true };
}

/** Adds a message that was just sent. A timeline without the newest messages stays as it is. */
export function addNew(timeline: Timeline, message: MessageRecord): Timeline {
  if (timeline.hasNewer) return timeline;
  const { messages } = timeline;
  if (message.message_id > lastId(timeline)) return append(timeline, { messages: [message], has_more: false });
  if (messages.some(({ message_id }) => message_id === message.message_id)) return timeline;
  // The response to a send can be later than the event of the next message.
  const first = messages[0]?.message_id ?? 0;
  if (message.message_id < first) return timeline;
  const at = messages.findIndex(({ message_id }) => message_id > message.message_id);
  return { ...timeline, messages: messages.toSpliced(at, 0, message) };
}

/** Replaces one message. Returns the same timeline if it does not have it. */
export function update(timeline: Timeline, id: number, change: (message: MessageRecord) => MessageRecord): Timeline {
  const at = timeline.messages.findIndex(({ message_id }) => message_id === id);
  const message = timeline.messages[at];
  return message ? { ...timeline, messages: timeline.messages.with(at, change(message)) } : timeline;
}

/** Joins a stored timeline with the newest page. Keeps the stored part only if there is no gap between the two. */
export function refresh(timeline: Timeline, page: Page): Timeline {
  const first = page.messages[0]?.message_id;
  if (first === undefined || !page.has_more || timeline.hasNewer || lastId(timeline) < first) return newestPage(page);
  const older = timeline.messages.filter(({ message_id }) => message_id < first);
  const newer = timeline.messages.filter(({ message_id }) => message_id > lastId(page));
  return {
    messages: [...older, ...page.messages, ...newer],
    hasOlder: older.length > 0 ? timeline.hasOlder : page.has_more,
    hasNewer: false,
  };
}

export const lastId = ({ messages }: Pick<Timeline, 'messages'>): number => messages.at(-1)?.message_id ?? 0;
