import { type ChatId, type EventName, eventNames } from '@parley/contract';
import { allChats, type BacklogRow, backlogsOf } from './backlogs.ts';
import { oldestOpen } from './deliveries.ts';
import type { Db } from './engine.ts';
import { type EventRow, eventsNamed, logTip, serviceEvents, visibleEvents } from './events.ts';
import type { WebhookRow } from './webhooks.ts';

/** The known events that a webhook asks for. */
export function eventsOf({ events }: Pick<WebhookRow, 'events'>): ReadonlySet<EventName> {
  const asked = JSON.parse(events) as string[];
  return new Set(asked.includes('*') ? eventNames : eventNames.filter((name) => asked.includes(name)));
}

/** A webhook is not told that it was disabled itself. */
export function isAbout({ event, body }: Pick<EventRow, 'event' | 'body'>, webhookId: number): boolean {
  if (event !== 'webhook_disabled') return false;
  return (JSON.parse(body) as { data: { webhook_id: number } }).data.webhook_id === webhookId;
}

/** What the log holds for a webhook after its backlog's beginning, and how far that reaches. */
export async function backlogged(
  db: Db,
  webhook: WebhookRow,
  backlogs: readonly BacklogRow[],
  backlog: BacklogRow,
  upTo: number,
  limit: number,
): Promise<{ events: EventRow[]; reached: number }> {
  const found = await eventsFor(db, webhook, {
    after: Math.max(backlog.after_event, webhook.since_event),
    upTo,
    limit,
    chatId: backlog.chat_id === allChats ? undefined : (backlog.chat_id as ChatId),
  });
  // The other backlogs are about one chat each, and this one about the rest.
  const elsewhere = new Set(backlogs.filter((b) => b !== backlog).map((b) => b.chat_id));
  const events = backlog.chat_id === allChats ? found.filter((e) => !elsewhere.has(e.chat_id)) : found;
  return { events: events.filter((e) => !isAbout(e, webhook.webhook_id)), reached: reachOf(found, limit, upTo) };
}

/** How far a page of the log reaches: to its last event where there may be more. */
export const reachOf = (found: readonly { event_id: number }[], limit: number, upTo: number): number =>
  (found.length === limit && found.at(-1)?.event_id) || upTo;

interface Range {
  readonly after: number;
  readonly upTo: number;
  readonly limit: number;
  readonly chatId?: ChatId | undefined;
}

/** The events of the log that concern a webhook: those that its user sees, or all, of the names and the chat it asks for. */
export async function eventsFor(db: Db, webhook: WebhookRow, range: Range): Promise<EventRow[]> {
  const names = eventsOf(webhook);
  if (names.size === 0 || range.after >= range.upTo) return [];
  const events: readonly EventName[] | undefined = names.size === eventNames.length ? undefined : [...names];
  const chatId = range.chatId ?? webhook.chat_id ?? undefined;
  return webhook.service_wide === 1
    ? serviceEvents(db, {
        ...range,
        chatId,
        events,
        includeDirect: webhook.include_direct === 1,
        userId: webhook.user_id,
      })
    : visibleEvents(db, { ...range, chatId, events, userId: webhook.user_id });
}

/** When the oldest event happened that a webhook is still to be told of; undefined: there is none. */
export async function oldestUndelivered(db: Db, webhook: WebhookRow): Promise<number | undefined> {
  const open = await oldestOpen(db, webhook.webhook_id);
  const [waiting] = open === undefined ? [] : await eventsNamed(db, [open]);
  const tip = await logTip(db);
  const backlogs = await backlogsOf(db, webhook.webhook_id);
  const times = waiting ? [waiting.created_at] : [];
  for (const backlog of backlogs) {
    const { events } = await backlogged(db, webhook, backlogs, backlog, tip, 1);
    times.push(...events.map((event) => event.created_at));
  }
  return times.length > 0 ? Math.min(...times) : undefined;
}
