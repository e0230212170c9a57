import type { LogEntry } from '../store/engine/engine.ts';
import { logTip, visibleEvents } from '../store/log/events.ts';
import { requireEverMember, requireKept, requireReached } from '../store/log/log-cursor.ts';
import type { Handlers, Services } from './operation.ts';
import { Live, PreparedJson } from './results.ts';

export const eventHandlers = ({ engine, openStream }: Services) =>
  ({
    'events.list': async ({ caller: { userId }, input: { after, limit, chat_id: chatId, events } }) => {
      if (chatId !== undefined) await requireEverMember(engine, chatId, userId);
      // The end is read first, so that events that commit meanwhile are left for the next page.
      const upTo = await logTip(engine);
      await requireReached(engine, after);
      const found = await visibleEvents(engine, { userId, after, upTo, limit: limit + 1, chatId, events });
      await requireKept(engine, after);
      const page = found.slice(0, limit);
      const has_more = found.length > limit;
      const next = has_more ? (page.at(-1)?.event_id ?? after) : Math.max(after, upTo);
      return new PreparedJson(`"events":[${page.map(logged).join(',')}],"next":${next},"has_more":${has_more}`);
    },

    'events.stream': async ({ caller: { userId, ownerId, tokenId, expiresAt }, input, lastEventId }) => {
      const names = input.events && new Set(input.events);
      // A client that reconnects sends its cursor in `Last-Event-ID`. The URL still has the one that it started with.
      const after = lastEventId ?? input.after;
      return new Live(await openStream({ userId, ownerId, tokenId, expiresAt, after, chatId: input.chat_id, names }));
    },
  }) satisfies Partial<Handlers>;

/** Adds the id to a stored body. Parsing a page of the longest bodies and writing it again took 15 ms. */
const logged = ({ event_id, body }: LogEntry): string => `{"event_id":${event_id},${body.slice(1)}`;
