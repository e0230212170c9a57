import type { DisabledReason, NewEvent, SkipReason, UserId, WebhookId } from '@parley/contract';
import type { Tx } from '../engine/engine.ts';
import { appendOne, logTip } from '../log/events.ts';
import { skipBacklog } from './backlog-skips.ts';
import { allChats, backlogsOf, beginBacklog, dropBacklogs } from './backlogs.ts';
import { skipAll } from './deliveries.ts';
import { bumpRevision, findEndpointState, type LeaseKey } from './endpoint-state.ts';
import { stopReplays } from './replays.ts';
import {
  deleteWebhook,
  findWebhook,
  lockWebhooks,
  noteRegistryChange,
  readPosition,
  withoutAccess,
} from './webhooks.ts';

/** The ways in which deliveries to a webhook stop. The caller of each holds `lockWebhooks`. */

/** Stops deliveries for now. From here on the log is the backlog. */
export async function suspend(tx: Tx, webhookId: WebhookId): Promise<void> {
  const { dispatched } = await readPosition(tx);
  await beginBacklog(tx, { webhook_id: webhookId, chat_id: allChats, after_event: dispatched });
  await bumpRevision(tx, webhookId, 'stop');
}

/** At most this many events of a backlog are recorded as skipped when a webhook ends. */
const maxSkipped = 20_000;

/** Skips everything undelivered. */
async function drop(tx: Tx, webhookId: WebhookId, reason: SkipReason, at: number): Promise<void> {
  await bumpRevision(tx, webhookId, 'stop');
  await skipAll(tx, webhookId, reason, at);
  const webhook = await findWebhook(tx, webhookId);
  const tip = await logTip(tx);
  let max = maxSkipped;
  for (const backlog of webhook ? await backlogsOf(tx, webhookId) : []) {
    if (webhook) max -= await skipBacklog(tx, webhook, backlog, tip, { reason, at, max });
  }
  await dropBacklogs(tx, webhookId);
  await stopReplays(tx, webhookId, at);
}

export async function removeWebhook(tx: Tx, webhookId: WebhookId, at: number): Promise<void> {
  await drop(tx, webhookId, 'webhook_deleted', at);
  await deleteWebhook(tx, webhookId, at);
}

async function setDisabled(tx: Tx, webhookId: WebhookId, reason: DisabledReason): Promise<void> {
  await tx.run(`UPDATE webhooks SET status = 'disabled', disabled_reason = $2 WHERE webhook_id = $1`, [
    webhookId,
    reason,
  ]);
  await noteRegistryChange(tx);
}

/** Why Parley disables a webhook: its endpoint responded 410, or was down for too long. */
export type EndpointEnd = 'gone' | 'unreachable';

/** Disables an active webhook if the lease still holds, and appends an event for the owner's other readers. */
export async function disableUnderLease(
  tx: Tx,
  owner: string,
  lease: LeaseKey,
  reason: EndpointEnd,
  at: number,
): Promise<void> {
  await lockWebhooks(tx);
  const webhook = await findWebhook(tx, lease.webhook_id);
  const state = await findEndpointState(tx, lease.webhook_id);
  const isOurs = state?.owner === owner && state.lease_number === lease.lease_number;
  if (!isOurs || webhook?.status !== 'active') return;
  const { webhook_id, user_id, url } = webhook;
  await suspend(tx, webhook_id);
  await setDisabled(tx, webhook_id, reason);
  const event: NewEvent = { event: 'webhook_disabled', data: { webhook_id, user_id, url, reason } };
  await appendOne(tx, event, at);
}

/**
 * Disables the webhooks, of one user or of all, whose access has ended. Call it in the transaction that ends the access;
 * access that expires is found later. It takes the lock even if there are none: a registration at the same time waits for
 * it, and then finds its access gone. Returns how many there were.
 */
export async function endWithoutAccess(
  tx: Tx,
  now: number,
  userId?: UserId,
  isPasswordChanged = false,
): Promise<number> {
  await lockWebhooks(tx);
  const ended = await withoutAccess(tx, now, userId, isPasswordChanged);
  for (const { webhook_id, reason } of ended) {
    await drop(tx, webhook_id, reason, now);
    await setDisabled(tx, webhook_id, reason);
  }
  return ended.length;
}
