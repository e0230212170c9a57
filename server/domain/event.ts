import type { NewEvent } from '@parley/contract';

/** The bytes that every reader of an event gets, now and ever after: these three fields and no more. */
export function freeze(event: NewEvent, at: number): string {
  return JSON.stringify({ event: event.event, timestamp: new Date(at).toISOString(), data: event.data });
}
