import type { DeliveryState, WebhookId } from '@parley/contract';
import { type BacklogRow, backlogsOf, endBacklog, moveBacklog } from '../store/backlogs.ts';
import { insertPending, type NewDelivery, unhappyEvents } from '../store/deliveries.ts';
import { type DriveRow, noteFilled } from '../store/drives.ts';
import type { Db, Engine, Tx } from '../store/engine.ts';
import { type EventRow, eventsNamed, logTip } from '../store/events.ts';
import { finishReplays, moveReplay, type ReplayRow, runningReplays } from '../store/replays.ts';
import { backlogged, eventsFor, reachOf, type Stretch } from '../store/webhook-events.ts';
import { findWebhook, lockWebhooks, type WebhookRow } from '../store/webhooks.ts';
import { type Entry, newEntry } from './lane.ts';

/** What was made out of the log for a webhook, and what there is left of it. */
export interface Filled {
  /** Undefined where nothing was made. */
  readonly drive: DriveRow | undefined;
  readonly entries: readonly Entry[];
  readonly events: readonly EventRow[];
  readonly backlogs: readonly BacklogRow[];
  readonly replays: readonly ReplayRow[];
}

/** A webhook as it is now, and stays until the transaction ends; nothing where it was paused, disabled or deleted meanwhile. */
async function lockActive(tx: Tx, webhookId: WebhookId): Promise<WebhookRow | undefined> {
  await lockWebhooks(tx);
  const webhook = await findWebhook(tx, webhookId);
  return webhook?.status === 'active' ? webhook : undefined;
}

/** Makes the next deliveries out of what the log holds for a webhook. A backlog that has reached the present ends. */
export function fillBacklog(
  engine: Engine,
  owner: string,
  webhookId: WebhookId,
  chatId: number,
  limit: number,
): Promise<Filled | undefined> {
  return engine.writeRelaxed(async (tx) => {
    const webhook = await lockActive(tx, webhookId);
    if (!webhook) return undefined;
    const backlogs = await backlogsOf(tx, webhook.webhook_id);
    const backlog = backlogs.find((b) => b.chat_id === chatId);
    if (!backlog) return undefined;
    // Also past the dispatcher's cursor: it may have passed what concerned nobody then. What it makes again is there already.
    const tip = await logTip(tx);
    const { events, reached } = await backlogged(tx, webhook, backlogs, backlog, tip, limit);
    if (reached === tip) await endBacklog(tx, backlog);
    else await moveBacklog(tx, backlog, reached);
    const { drive, entries } = await insert(tx, owner, webhook, 0, events);
    return told(tx, webhook, drive, entries, events);
  });
}

/** Makes the next deliveries of a replay. */
export function fillReplay(
  engine: Engine,
  owner: string,
  webhookId: WebhookId,
  replayId: number,
  limit: number,
  at: number,
): Promise<Filled | undefined> {
  return engine.writeRelaxed(async (tx) => {
    const webhook = await lockActive(tx, webhookId);
    if (!webhook) return undefined;
    const replay = (await runningReplays(tx, webhook.webhook_id)).find((r) => r.replay_id === replayId);
    if (!replay || replay.reached_event >= replay.to_event) return undefined;
    const { events, reached } = await replayed(tx, webhook, replay, limit);
    const { drive, entries } = await insert(tx, owner, webhook, replayId, events);
    await moveReplay(tx, replay.replay_id, reached, entries.length);
    await finishReplays(tx, webhook.webhook_id, at);
    return told(tx, webhook, drive, entries, events);
  });
}

async function replayed(db: Db, webhook: WebhookRow, replay: ReplayRow, limit: number): Promise<Stretch> {
  const range = { after: replay.reached_event, upTo: replay.to_event, limit };
  if (replay.only_states === null) return eventsFor(db, webhook, range);
  const states = JSON.parse(replay.only_states) as DeliveryState[];
  const ids = await unhappyEvents(db, webhook.webhook_id, { ...range, states });
  const events = await eventsNamed(
    db,
    ids.map((row) => row.event_id),
  );
  return { events, reached: reachOf(ids, limit, replay.to_event) };
}

async function insert(
  tx: Tx,
  owner: string,
  { webhook_id }: WebhookRow,
  replay_id: number,
  events: readonly EventRow[],
): Promise<Pick<Filled, 'drive' | 'entries'>> {
  const rows = events.map(
    ({ event_id, chat_id, event }): NewDelivery => ({ webhook_id, event_id, replay_id, chat_id, event }),
  );
  const inserted = new Map((await insertPending(tx, rows)).map((row) => [row.event_id, row.delivery_id]));
  if (inserted.size === 0) return { drive: undefined, entries: [] };
  const [drive] = await noteFilled(tx, owner, [[webhook_id, inserted.size]]);
  const entries = rows.flatMap((row) => {
    const deliveryId = inserted.get(row.event_id);
    return deliveryId === undefined ? [] : newEntry(deliveryId, row);
  });
  return { drive, entries };
}

const told = async (
  db: Db,
  { webhook_id }: WebhookRow,
  drive: DriveRow | undefined,
  entries: readonly Entry[],
  events: readonly EventRow[],
): Promise<Filled> => ({
  drive,
  entries,
  events,
  backlogs: await backlogsOf(db, webhook_id),
  replays: await runningReplays(db, webhook_id),
});
