import type { LoggedEvent } from '@parley/contract';
import type { LogEntry } from '../store/engine/engine.ts';
import { logTip, visibleEvents } from '../store/log/events.ts';
import { requireEverMember, requireKept, requireReached } from '../store/log/log-cursor.ts';
import type { Handlers, Services } from './operation.ts';
import { Live } from './results.ts';

export const eventHandlers = ({ engine, openStream }: Services) =>
  ({
    'events.list': async ({ caller: { userId }, input: { after, limit, chat_id: chatId, events } }) => {
      if (chatId !== undefined) await requireEverMember(engine, chatId, userId);
      // The end is read first, so that events that commit meanwhile are left for the next page.
      const upTo = await logTip(engine);
      await requireReached(engine, after);
      const found = await visibleEvents(engine, { userId, after, upTo, limit: limit + 1, chatId, events });
      await requireKept(engine, after);
      const page = found.slice(0, limit).map(logged);
      const has_more = found.length > limit;
      return { events: page, next: has_more ? (page.at(-1)?.event_id ?? after) : Math.max(after, upTo), has_more };
    },

    'events.stream': async ({ caller: { userId, ownerId, tokenId, expiresAt }, input, lastEventId }) => {
      const names = input.events && new Set(input.events);
      // A client that reconnects sends its cursor in `Last-Event-ID`. The URL still has the one that it started with.
      const after = lastEventId ?? input.after;
      return new Live(await openStream({ userId, ownerId, tokenId, expiresAt, after, chatId: input.chat_id, names }));
    },
  }) satisfies Partial<Handlers>;

function logged({ event_id, body }: LogEntry): LoggedEvent {
  return { event_id, ...(JSON.parse(body) as Omit<LoggedEvent, 'event_id'>) };
}
