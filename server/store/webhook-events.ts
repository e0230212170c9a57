import { type ChatId, type EventName, eventNames } from '@parley/contract';
import { allChats, type BacklogRow, backlogsOf } from './backlogs.ts';
import { oldestOpen } from './deliveries.ts';
import type { Db } from './engine.ts';
import {
  type EventRow,
  eventsAfter,
  eventsNamed,
  logTip,
  serviceEvents,
  visibleEvents,
  visibleWithin,
} from './events.ts';
import { nextPiece } from './log-pieces.ts';
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

/** The matching events of a range of the log, and where the range ends. */
export interface Stretch {
  readonly events: readonly EventRow[];
  readonly reached: number;
}

/** What the log holds for a webhook after its backlog's beginning. */
export async function backlogged(
  db: Db,
  webhook: WebhookRow,
  backlogs: readonly BacklogRow[],
  backlog: BacklogRow,
  upTo: number,
  limit: number,
): Promise<Stretch> {
  const { events, reached } = await eventsFor(db, webhook, {
    after: Math.max(backlog.after_event, webhook.since_event),
    upTo,
    limit,
    chatId: backlog.chat_id === allChats ? undefined : (backlog.chat_id as ChatId),
  });
  if (backlog.chat_id !== allChats) return { events, reached };
  // The other backlogs are about one chat each, and this one about the rest.
  const elsewhere = new Set(backlogs.map((b) => b.chat_id));
  return { events: events.filter((e) => !elsewhere.has(e.chat_id)), reached };
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

/** Where at least one of so many events of the log concerns a webhook, the log is read as it is. */
const dense = 8;

/** Events that are gathered from many membership periods at a time. */
const mostSparse = 128;

/**
 * Returns the next events of the log that a webhook gets. If the user sees much of the log, it is read as a whole. If
 * little, the events of each membership period are looked up, which costs a lookup per period: with 64 chats half the
 * time of a whole delivery.
 */
export async function eventsFor(db: Db, webhook: WebhookRow, range: Range): Promise<Stretch> {
  const { after, upTo, limit } = range;
  const names = eventsOf(webhook);
  if (names.size === 0 || after >= upTo) return { events: [], reached: upTo };
  const events: readonly EventName[] | undefined = names.size === eventNames.length ? undefined : [...names];
  const chatId = range.chatId ?? webhook.chat_id ?? undefined;
  const query = { after, upTo, limit, chatId, events, userId: webhook.user_id };
  const told = (found: readonly EventRow[]) => found.filter((e) => !isAbout(e, webhook.webhook_id));
  const isServiceWide = webhook.service_wide === 1;
  if (isServiceWide || chatId === undefined) {
    const piece = await nextPiece(db, after, upTo, limit);
    const within = { ...query, after: piece.after, upTo: piece.end };
    const found = isServiceWide
      ? await serviceEvents(db, { ...within, includeDirect: webhook.include_direct === 1 })
      : await visibleWithin(db, within);
    const isDense = found.length * dense >= piece.end - piece.after;
    if (isServiceWide || isDense || piece.end === upTo) return { events: told(found), reached: piece.end };
  }
  const found = await visibleEvents(db, { ...query, limit: Math.min(limit, mostSparse) });
  return { events: told(found), reached: reachOf(found, Math.min(limit, mostSparse), upTo) };
}

/** When the oldest event happened that a webhook is still to be told of; undefined: there is none. */
export async function oldestUndelivered(db: Db, webhook: WebhookRow): Promise<number | undefined> {
  // First of all: what is made of a backlog meanwhile is then found among the deliveries.
  const backlogs = await backlogsOf(db, webhook.webhook_id);
  const open = await oldestOpen(db, webhook.webhook_id);
  const [waiting] = open === undefined ? [] : await eventsNamed(db, [open]);
  const tip = await logTip(db);
  const times = waiting ? [waiting.created_at] : [];
  for (const backlog of backlogs) {
    const first = await firstBacklogged(db, webhook, backlogs, backlog, tip);
    if (first) times.push(first.created_at);
  }
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** Pages that are read for one figure of a response. */
const maxPages = 20;

async function firstBacklogged(
  db: Db,
  webhook: WebhookRow,
  backlogs: readonly BacklogRow[],
  backlog: BacklogRow,
  upTo: number,
): Promise<EventRow | undefined> {
  let after_event = backlog.after_event;
  for (let i = 0; i < maxPages && after_event < upTo; i++) {
    const { events, reached } = await backlogged(db, webhook, backlogs, { ...backlog, after_event }, upTo, 64);
    const [first] = events;
    if (first) return first;
    after_event = reached;
  }
  // Whatever it is, it is no older than this one.
  return after_event < upTo ? (await eventsAfter(db, after_event, 1))[0] : undefined;
}
