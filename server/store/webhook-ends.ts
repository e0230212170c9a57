import type { DisabledReason, NewEvent, SkipReason, UserId, WebhookId } from '@parley/contract';
import { skipBacklog } from './backlog-skips.ts';
import { allChats, backlogsOf, beginBacklog, dropBacklogs } from './backlogs.ts';
import { skipAll } from './deliveries.ts';
import { noteRevision } from './drives.ts';
import type { Tx } from './engine.ts';
import { appendOne, logTip } from './events.ts';
import { stopReplays } from './replays.ts';
import {
  deleteWebhook,
  findWebhook,
  lockWebhooks,
  noteRegistryChange,
  readPosition,
  type WebhookRow,
  withoutAccess,
} from './webhooks.ts';

/** The ways in which a webhook ceases to be told. All of them come under `lockWebhooks`. */

/** It is to be told later: from here on the log holds what it misses. */
export async function suspend(tx: Tx, webhookId: WebhookId): Promise<void> {
  const { dispatched } = await readPosition(tx);
  await beginBacklog(tx, { webhook_id: webhookId, chat_id: allChats, after_event: dispatched });
  await noteRevision(tx, webhookId, 'left alone');
}

/** Of what waits in the log when a webhook ends, so much is written down as skipped. */
const mostSkipped = 20_000;

/** It is not to be told of what it has not been told of. */
async function drop(tx: Tx, webhookId: WebhookId, reason: SkipReason, at: number): Promise<void> {
  await noteRevision(tx, webhookId, 'left alone');
  await skipAll(tx, webhookId, reason, at);
  const webhook = await findWebhook(tx, webhookId);
  const tip = await logTip(tx);
  let most = mostSkipped;
  for (const backlog of webhook ? await backlogsOf(tx, webhookId) : []) {
    if (webhook) most -= await skipBacklog(tx, webhook, backlog, tip, { reason, at, most });
  }
  await dropBacklogs(tx, webhookId);
  await stopReplays(tx, webhookId, at);
}

export async function removeWebhook(tx: Tx, webhookId: WebhookId, at: number): Promise<void> {
  await drop(tx, webhookId, 'webhook_deleted', at);
  await deleteWebhook(tx, webhookId, at);
}

async function setDisabled(tx: Tx, webhookId: WebhookId, reason: DisabledReason): Promise<void> {
  await tx.run(
    `UPDATE webhooks SET status = 'disabled', disabled_reason = $2 WHERE webhook_id = $1`,
    webhookId,
    reason,
  );
  await noteRegistryChange(tx);
}

/** Why an endpoint is given up. */
export type EndpointEnd = 'gone' | 'unreachable';

/** Its endpoint is given up. The owner is told, wherever else the owner listens. */
export async function disableForEndpoint(
  tx: Tx,
  { webhook_id, user_id, url }: WebhookRow,
  reason: EndpointEnd,
  at: number,
): Promise<void> {
  await suspend(tx, webhook_id);
  await setDisabled(tx, webhook_id, reason);
  const told: NewEvent = { event: 'webhook_disabled', data: { webhook_id, user_id, url, reason } };
  await appendOne(tx, told, at);
}

/**
 * Ends the webhooks, of one user or of all, whose access has ended. To be called in the transaction that ends it; what ends
 * by time is found later. Takes the lock even where there are none: one that is just being registered waits for it, and
 * then sees that its access is gone.
 */
export async function endWithoutAccess(tx: Tx, now: number, userId?: UserId): Promise<number> {
  await lockWebhooks(tx);
  const ended = await withoutAccess(tx, now, userId);
  for (const { webhook_id, reason } of ended) {
    await drop(tx, webhook_id, reason, now);
    await setDisabled(tx, webhook_id, reason);
  }
  return ended.length;
}
