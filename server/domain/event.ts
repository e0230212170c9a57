import type { NewEvent, Signal } from '@parley/contract';
import { isoTime } from './time.ts';

/** The bytes that every reader of an event gets, now and ever after: these three fields and no more. */
export function freeze(event: NewEvent | Signal, at: number): string {
  return JSON.stringify({ event: event.event, timestamp: isoTime(at), data: event.data });
}
