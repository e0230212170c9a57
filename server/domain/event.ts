import type { NewEvent, Signal } from '@parley/contract';
import { isoTime } from './time.ts';

/** Returns the body that every reader of an event gets, on every attempt. It has exactly these three fields. */
export function freeze(event: NewEvent | Signal, at: number): string {
  return JSON.stringify({ event: event.event, timestamp: isoTime(at), data: event.data });
}

/** The format that new `new_message` events are stored in. */
export const messageEventFormat = 1;

/**
 * Returns the body of a `new_message` event from the JSON of its message, byte for byte as `freeze` makes it. Never change
 * a format: add one, and events that are stored keep theirs. Format 1 has all fields of the message before `reply_to`, among
 * them those of mentions and threads.
 */
export function renderMessageEvent(format: number, json: string): string {
  if (format !== 1) throw new Error(`unknown format ${format} of a stored event`);
  // The text after the content has a fixed form, so the last match is the field and not a part of the content.
  const end = json.lastIndexOf(',"reply_to":');
  const [, replyTo, createdAt] = tail.exec(json.slice(end)) ?? [];
  if (createdAt === undefined) throw new Error('the message of a stored event has another form');
  const reply = replyTo === 'null' ? '' : `,"reply_to":${replyTo}`;
  return `{"event":"new_message","timestamp":"${createdAt}","data":${json.slice(0, end)}${reply}}}`;
}

const tail = /^,"reply_to":(null|\d+),"file":null,"reactions":\[\],"created_at":"([^"]+)"/;
