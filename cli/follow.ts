import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, type Client, type ClientInput, type ClientOutput } from '@parley/sdk';
import type { Patience } from './patience.ts';
import type { Running } from './until-stopped.ts';

export type Filters = Pick<ClientInput<'events.list'>, 'chat_id' | 'events'>;
export type Page = ClientOutput<'events.list'>;
export type LoggedEvent = Page['events'][number];

/** How long to wait before looking again: at first as long as people notice, then twice that. */
const shortestPauseMs = 500;
const longestPauseMs = 1_000;

/** The pages of the log after a cursor, in order, for as long as the command runs. */
export async function* follow(
  client: Client,
  filters: Filters,
  from: number,
  running: Running,
  patience: Patience,
): AsyncGenerator<Page, never> {
  let after = from;
  let pauseMs = shortestPauseMs;
  for (;;) {
    const page = await patience.call((signal) => pageAfter(client, { ...filters, after }, signal));
    if (page === undefined) {
      await running.say(`Event ${after} is not in the log any more; going on with the oldest that is kept.`);
      after = 0;
      continue;
    }
    yield page;
    after = page.next;
    if (page.has_more) continue;
    pauseMs = page.events.length > 0 ? shortestPauseMs : Math.min(pauseMs * 1.1, longestPauseMs);
    await sleep(pauseMs, undefined, { signal: running.signal });
  }
}

/**
 * The end of the log, from where on everything is new. The page that holds all that is left names it as `next`, whatever
 * the filter: asked for the rarest event, and a small one, that is the first page for nearly everyone. Where it is not,
 * the end lies between a cursor of the log and one that is beyond it, and halving finds it in about 50 calls, however
 * long the log is.
 */
export async function endOfLog(client: Client, chat_id: number | undefined, signal: AbortSignal): Promise<number> {
  const rarest = { chat_id, events: ['role_changed'], limit: 200 } as const;
  let [least, most, after] = [0, Number.MAX_SAFE_INTEGER, 0];
  do {
    const page = await pageAfter(client, { ...rarest, events: [...rarest.events], after }, signal);
    if (page && !page.has_more) return page.next;
    if (page) least = page.next;
    else most = after - 1;
    after = least + Math.ceil((most - least) / 2);
  } while (least < most);
  return least;
}

/** One page, or undefined where the log does not hold the cursor: it was dropped, or is none of this log. */
async function pageAfter(
  client: Client,
  input: ClientInput<'events.list'> & { after: number },
  signal: AbortSignal,
): Promise<Page | undefined> {
  try {
    return await client.events.list(input, { signal });
  } catch (error) {
    if (error instanceof ApiError && error.code === 'cursor_expired' && input.after > 0) return undefined;
    throw error;
  }
}
