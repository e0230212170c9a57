import type { LoggedEvent } from '@parley/contract';
import type { LogEntry } from '../store/engine/engine.ts';
import { logTip, visibleEvents } from '../store/log/events.ts';
import { requireEverMember, requireKept, requireReached } from '../store/log/log-cursor.ts';
import { Live } from './live.ts';
import type { Handler, Services } from './operation.ts';

export function listEvents({ engine }: Services): Handler<'events.list'> {
  return async ({ caller, input }) => {
    const { after, limit, chat_id, events } = input;
    if (chat_id !== undefined) await requireEverMember(engine, chat_id, caller.userId);
    // The end is read first: whatever commits after it is left for the next page, and nothing before it is missed.
    const upTo = await logTip(engine);
    await requireReached(engine, after);
    const found = await visibleEvents(engine, {
      userId: caller.userId,
      after,
      upTo,
      limit: limit + 1,
      chatId: chat_id,
      events,
    });
    await requireKept(engine, after);
    const page = found.slice(0, limit).map(logged);
    const has_more = found.length > limit;
    return { events: page, next: has_more ? (page.at(-1)?.event_id ?? after) : Math.max(after, upTo), has_more };
  };
}

/** What a client that comes back says in `Last-Event-ID` is later than what stands in the address of the stream. */
export function streamEvents({ openStream }: Services): Handler<'events.stream'> {
  return async ({ caller, input, lastEventId }) => {
    const { userId, tokenId, expiresAt } = caller;
    const names = input.events && new Set(input.events);
    const after = lastEventId ?? input.after;
    return new Live(await openStream({ userId, tokenId, expiresAt, after, chatId: input.chat_id, names }));
  };
}

function logged({ event_id, body }: LogEntry): LoggedEvent {
  return { event_id, ...(JSON.parse(body) as Omit<LoggedEvent, 'event_id'>) };
}
