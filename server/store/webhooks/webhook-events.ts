import { type ChatId, type EventName, eventNames } from '@parley/contract';
import type { Db, LogEntry } from '../engine/engine.ts';
import {
  type EventQuery,
  eventsAfter,
  eventsNamed,
  logTip,
  serviceEvents,
  visibleEvents,
  visibleWithin,
} from '../log/events.ts';
import { nextPiece } from '../log/log-pieces.ts';
import { allChats, type BacklogRow, backlogsOf } from './backlogs.ts';
import { oldestOpen } from './deliveries.ts';
import type { WebhookRow } from './webhooks.ts';

/** Returns the known events that a webhook subscribes to. */
export function eventsOf({ events }: Pick<WebhookRow, 'events'>): ReadonlySet<EventName> {
  const asked = JSON.parse(events) as string[];
  return new Set(asked.includes('*') ? eventNames : eventNames.filter((name) => asked.includes(name)));
}

/** Returns true for the event that this webhook was disabled, which is not sent to the webhook itself. */
export function isAbout(entry: Pick<LogEntry, 'event' | 'body'>, webhookId: number): boolean {
  if (entry.event !== 'webhook_disabled') return false;
  return (JSON.parse(entry.body) as { data: { webhook_id: number } }).data.webhook_id === webhookId;
}

/** A page of the log: the matching events, and up to which event it was searched. */
export interface EventPage {
  readonly events: readonly LogEntry[];
  readonly reached: number;
}

/** Returns the next events of a backlog. */
export async function backlogEvents(
  db: Db,
  webhook: WebhookRow,
  backlogs: readonly BacklogRow[],
  backlog: BacklogRow,
  upTo: number,
  limit: number,
): Promise<EventPage> {
  const { events, reached } = await eventsFor(db, webhook, {
    after: Math.max(backlog.after_event, webhook.since_event),
    upTo,
    limit,
    chatId: backlog.chat_id === allChats ? undefined : (backlog.chat_id as ChatId),
  });
  if (backlog.chat_id !== allChats) return { events, reached };
  // The other backlogs hold one chat each, and this one the rest.
  const elsewhere = new Set(backlogs.map((b) => b.chat_id));
  return { events: events.filter((e) => !elsewhere.has(e.chat_id)), reached };
}

/** Returns how far a page of the log reaches: to its last event if there may be more. */
export const reachedEvent = (found: readonly { event_id: number }[], limit: number, upTo: number): number =>
  (found.length === limit && found.at(-1)?.event_id) || upTo;

/** If at least one of this many events matches a webhook, the log is read sequentially. */
const dense = 8;

/** Events that are collected from many membership periods at a time. */
const maxSparse = 128;

/**
 * Returns the next events that match a webhook: those that its user sees (all, if it is service-wide), of the names and
 * the chat it subscribes to. For a user who sees much of the log, the log is read sequentially. For a user who sees
 * little, each membership period is queried, which costs as many reads per event as the user has periods: in 64 chats
 * half of the time of a whole delivery.
 */
export async function eventsFor(
  db: Db,
  webhook: WebhookRow,
  range: Omit<EventQuery, 'userId' | 'events'>,
): Promise<EventPage> {
  const { after, upTo, limit } = range;
  const names = eventsOf(webhook);
  if (names.size === 0 || after >= upTo) return { events: [], reached: upTo };
  const events: readonly EventName[] | undefined = names.size === eventNames.length ? undefined : [...names];
  const chatId = range.chatId ?? webhook.chat_id ?? undefined;
  const query = { after, upTo, limit, chatId, events, userId: webhook.user_id };
  const deliverable = (found: readonly LogEntry[]) => found.filter((e) => !isAbout(e, webhook.webhook_id));
  if (webhook.service_wide || chatId === undefined) {
    const piece = await nextPiece(db, after, upTo, limit);
    const within = { ...query, after: piece.after, upTo: piece.end };
    const found = webhook.service_wide
      ? await serviceEvents(db, { ...within, includeDirect: webhook.include_direct })
      : await visibleWithin(db, within);
    const isDense = found.length * dense >= piece.end - piece.after;
    if (webhook.service_wide || isDense || piece.end === upTo)
      return { events: deliverable(found), reached: piece.end };
  }
  const found = await visibleEvents(db, { ...query, limit: Math.min(limit, maxSparse) });
  return { events: deliverable(found), reached: reachedEvent(found, Math.min(limit, maxSparse), upTo) };
}

/** Returns an event of the chats of a webhook, whether it subscribes to its name or not. */
export async function findVisibleEvent(db: Db, webhook: WebhookRow, eventId: number): Promise<LogEntry | undefined> {
  const range = { after: eventId - 1, upTo: eventId, limit: 1 };
  const { events } = await eventsFor(db, { ...webhook, events: '["*"]' }, range);
  return events[0];
}

/** Returns the time of the oldest undelivered event of a webhook, or undefined if there is none. */
export async function oldestUndelivered(db: Db, webhook: WebhookRow): Promise<number | undefined> {
  // First: events that leave a backlog meanwhile are then found among the deliveries.
  const backlogs = await backlogsOf(db, webhook.webhook_id);
  const open = await oldestOpen(db, webhook.webhook_id);
  const [waiting] = open === undefined ? [] : await eventsNamed(db, [open]);
  const tip = await logTip(db);
  const times = waiting ? [waiting.created_at] : [];
  for (const backlog of backlogs) {
    const first = await oldestInBacklog(db, webhook, backlogs, backlog, tip);
    if (first) times.push(first.created_at);
  }
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** Pages that are read to find the oldest event of one backlog. */
const maxPages = 20;

async function oldestInBacklog(
  db: Db,
  webhook: WebhookRow,
  backlogs: readonly BacklogRow[],
  backlog: BacklogRow,
  upTo: number,
): Promise<LogEntry | undefined> {
  let after_event = backlog.after_event;
  for (let i = 0; i < maxPages && after_event < upTo; i++) {
    const { events, reached } = await backlogEvents(db, webhook, backlogs, { ...backlog, after_event }, upTo, 64);
    const [first] = events;
    if (first) return first;
    after_event = reached;
  }
  // The oldest one is no older than this.
  return after_event < upTo ? (await eventsAfter(db, after_event, 1))[0] : undefined;
}
