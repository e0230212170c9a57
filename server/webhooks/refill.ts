import type { WebhookId } from '@parley/contract';
import type { Engine, LogEntry, Tx } from '../store/engine/engine.ts';
import { logTip } from '../store/log/events.ts';
import {
  allChats,
  type BacklogRow,
  backlogsOf,
  beginBacklog,
  endBacklog,
  moveBacklog,
} from '../store/webhooks/backlogs.ts';
import { replayEvents } from '../store/webhooks/replay-events.ts';
import { finishReplays, moveReplay, type ReplayRow, runningReplays } from '../store/webhooks/replays.ts';
import { backlogEvents } from '../store/webhooks/webhook-events.ts';
import { findWebhook, lockWebhooks, readPosition, type WebhookRow } from '../store/webhooks/webhooks.ts';
import type { ChatQueues } from './chat-queue.ts';
import { type CreatedDeliveries, createDeliveries } from './dispatcher.ts';

/** Beyond this many queued deliveries the log itself is the backlog: a dead endpoint must not cost a row per event. */
const maxQueued = 1_000;

/** The same for one chat whose first delivery waits for its next attempt. Other chats go on meanwhile. */
const maxBehindWaiting = 100;

/** Deliveries created from a backlog at a time, once fewer than half of it are queued. */
const backlogBatch = 1_024;

/** From a replay at a time. It runs beside the live deliveries, and must not crowd them out. */
const replayBatch = 128;

/** A webhook that has plenty queued is checked after this many decisions, about 5 ms at full speed. */
const checkEvery = 64;

/** Moves events between the log and the queues of a webhook. */
export type RefillTask =
  /** Leave the new events of a chat (0: of all chats) to the log. */
  | { readonly kind: 'start_backlog'; readonly chatId: number }
  | { readonly kind: 'backlog'; readonly chatId: number }
  | { readonly kind: 'replay'; readonly replayId: number };

export interface RefillView {
  readonly chats: ChatQueues;
  readonly backlogs: readonly BacklogRow[];
  readonly replays: readonly ReplayRow[];
  /** Deliveries can go out now: the webhook is active, and its endpoint is neither down nor on hold. */
  readonly canRefill: boolean;
}

/** Returns whether `nextRefill` may find something, this many decisions after its last call. */
export function needsRefillCheck({ chats, backlogs, replays }: RefillView, decisions: number): boolean {
  const hasMore = backlogs.length > 0 || replays.length > 0;
  if (!hasMore && chats.count <= maxBehindWaiting) return false;
  return chats.count < backlogBatch / 2 || decisions >= checkEvery;
}

/** Returns what keeps a webhook from having too many deliveries queued, or too few while the log holds more. */
export function nextRefill(view: RefillView, now: number): RefillTask | undefined {
  return overflow(view, now) ?? refillable(view, now);
}

function overflow({ chats, backlogs }: RefillView, now: number): RefillTask | undefined {
  const has = (chatId: number) => backlogs.some((b) => b.chat_id === chatId);
  if (!has(allChats) && chats.countMoving(now) > maxQueued) return { kind: 'start_backlog', chatId: allChats };
  const waiting = chats.waitingQueues(maxBehindWaiting, now).find(({ chatId }) => !has(chatId));
  return waiting && { kind: 'start_backlog', chatId: waiting.chatId };
}

function refillable({ chats, backlogs, replays, canRefill }: RefillView, now: number): RefillTask | undefined {
  if (!canRefill) return undefined;
  const backlog = backlogs.find(({ chat_id }) => {
    if (chat_id === allChats) return chats.countMoving(now) < backlogBatch / 2;
    const queue = chats.ofChat(chat_id);
    return !queue || (!queue.isWaiting(now) && queue.deliveries.length < maxBehindWaiting / 2);
  });
  if (backlog) return { kind: 'backlog', chatId: backlog.chat_id };
  const replay = replays.find(
    ({ replay_id, reached_event, to_event }) =>
      reached_event < to_event && chats.countInReplay(replay_id) < replayBatch / 2,
  );
  return replay && { kind: 'replay', replayId: replay.replay_id };
}

/** The deliveries that a refill created, and what is left in the log. */
export interface Refilled {
  /** Undefined if no delivery was created. */
  readonly created: CreatedDeliveries | undefined;
  readonly events: readonly LogEntry[];
  readonly backlogs: readonly BacklogRow[];
  readonly replays: readonly ReplayRow[];
}

/** Carries out a task in one transaction. Returns undefined if the webhook has to be read again. */
export function refill(
  engine: Engine,
  owner: string,
  webhookId: WebhookId,
  task: RefillTask,
  at: number,
): Promise<Refilled | undefined> {
  return engine.writeRelaxed(async (tx) => {
    await lockWebhooks(tx);
    const webhook = await findWebhook(tx, webhookId);
    if (!webhook) return undefined;
    if (task.kind === 'start_backlog') return startBacklog(tx, webhookId, task.chatId);
    if (webhook.status !== 'active') return undefined;
    const refilled =
      task.kind === 'backlog'
        ? await fromBacklog(tx, owner, webhook, task.chatId)
        : await fromReplay(tx, owner, webhook, task.replayId, at);
    if (!refilled) return undefined;
    return { ...refilled, backlogs: await backlogsOf(tx, webhookId), replays: await runningReplays(tx, webhookId) };
  });
}

/** The backlog of a chat starts where the backlog of all chats has come to, if there is one. */
async function startBacklog(tx: Tx, webhook_id: WebhookId, chat_id: number): Promise<undefined> {
  const { dispatched } = await readPosition(tx);
  const ofAll = (await backlogsOf(tx, webhook_id)).find((b) => b.chat_id === allChats);
  await beginBacklog(tx, { webhook_id, chat_id, after_event: ofAll?.after_event ?? dispatched });
}

/** A backlog that has reached the end of the log ends. */
async function fromBacklog(tx: Tx, owner: string, webhook: WebhookRow, chatId: number) {
  const backlogs = await backlogsOf(tx, webhook.webhook_id);
  const backlog = backlogs.find((b) => b.chat_id === chatId);
  if (!backlog) return undefined;
  const limit = chatId === allChats ? backlogBatch : maxBehindWaiting;
  // To the tip, past the dispatcher's cursor: it may have skipped events that match now. A repeat is harmless.
  const tip = await logTip(tx);
  const { events, reached } = await backlogEvents(tx, webhook, backlogs, backlog, tip, limit);
  if (reached === tip) await endBacklog(tx, backlog);
  else await moveBacklog(tx, backlog, reached);
  return insert(tx, owner, webhook.webhook_id, 0, events);
}

async function fromReplay(tx: Tx, owner: string, webhook: WebhookRow, replayId: number, at: number) {
  const replay = (await runningReplays(tx, webhook.webhook_id)).find((r) => r.replay_id === replayId);
  if (!replay || replay.reached_event >= replay.to_event) return undefined;
  const { events, reached } = await replayEvents(tx, webhook, replay, replayBatch);
  const inserted = await insert(tx, owner, webhook.webhook_id, replayId, events);
  await moveReplay(tx, replay.replay_id, reached, inserted.created?.deliveries.length ?? 0);
  await finishReplays(tx, webhook.webhook_id, at);
  return inserted;
}

async function insert(tx: Tx, owner: string, webhook_id: WebhookId, replay_id: number, events: readonly LogEntry[]) {
  const rows = events.map(({ event_id, chat_id, event }) => ({ webhook_id, event_id, replay_id, chat_id, event }));
  const [created] = await createDeliveries(tx, owner, rows);
  return { created, events };
}
