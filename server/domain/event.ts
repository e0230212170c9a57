import type { NewEvent, Signal } from '@parley/contract';
import { isoTime } from './time.ts';

/** Returns the body that every reader of an event gets, on every attempt. It has exactly these three fields. */
export function freeze(event: NewEvent | Signal, at: number): string {
  return JSON.stringify({ event: event.event, timestamp: isoTime(at), data: event.data });
}
