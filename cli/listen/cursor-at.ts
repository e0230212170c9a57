import { ApiError, type Client } from '@parley-chat/sdk';
import type { LoggedEvent, Subscription } from './follow.ts';

/**
 * Returns a cursor that has all events since a time after it, and few before: the API has no cursor for a time. Takes about
 * twice as many calls as the number of the last event has bits.
 */
export async function cursorAt(
  client: Client,
  filters: Subscription['filters'],
  since: string,
  signal?: AbortSignal,
): Promise<number> {
  const firstAfter = async (after: number): Promise<LoggedEvent | undefined> => {
    try {
      return (await client.events.list({ ...filters, after, limit: 1 }, { ...(signal && { signal }) })).events[0];
    } catch (error) {
      // Beyond the end of the log, or in a gap that a restore left. Both are treated as too late, which misses no event.
      if (error instanceof ApiError && error.code === 'cursor_expired') return undefined;
      throw error;
    }
  };
  /** Returns the id of the first event after a cursor if it is too early, so that it is a better cursor. */
  const earlyAfter = async (after: number): Promise<number | undefined> => {
    const event = await firstAfter(after);
    return event && event.timestamp < since ? event.event_id : undefined;
  };
  let low = await earlyAfter(0);
  if (low === undefined) return 0;
  let high = Number.POSITIVE_INFINITY;
  for (let step = 1; low < high; step *= 2) {
    const middle: number = high === Number.POSITIVE_INFINITY ? low + step : Math.floor((low + high) / 2);
    const next = await earlyAfter(middle);
    if (next === undefined) high = middle;
    else low = next;
  }
  return low;
}
