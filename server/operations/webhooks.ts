import { type ChatId, invalidField, ParleyError, type Webhook, type WebhookId } from '@parley/contract';
import { type AuditDetails, record } from '../auth/audit.ts';
import { type Caller, requireScopes } from '../auth/caller.ts';
import { findToken } from '../store/access/tokens.ts';
import { findChatType } from '../store/chat/chats.ts';
import type { Db, Tx } from '../store/engine/engine.ts';
import { logTip } from '../store/log/events.ts';
import { makeAllDue } from '../store/webhooks/deliveries.ts';
import { bumpRevision, findEndpointState } from '../store/webhooks/endpoint-state.ts';
import { removeWebhook, suspend } from '../store/webhooks/webhook-ends.ts';
import { oldestUndelivered } from '../store/webhooks/webhook-events.ts';
import {
  adoptWebhook,
  countWebhooks,
  findOwned,
  findWebhook,
  insertWebhook,
  listWebhooks,
  lockWebhooks,
  restartAfter,
  rotateSecret,
  updateWebhook,
  type WebhookRow,
} from '../store/webhooks/webhooks.ts';
import { accessChatTo, noChat } from './access.ts';
import { actorOf, change, type Handler, type Services } from './operation.ts';
import * as present from './present.ts';

/** How long deliveries are signed with the secret before a rotation as well. */
const overlapMs = 24 * 3_600_000;

const noWebhook = () => new ParleyError('not_found', 'You have no such webhook.');

/**
 * The one door from an id to a webhook: only its user sees it, through the same app. One for the whole service carries what
 * only an administrator may see, so it takes an administrator to do anything with it.
 */
export async function accessWebhook(db: Db, caller: Caller, webhookId: WebhookId): Promise<WebhookRow> {
  const webhook = await findWebhook(db, webhookId);
  if (webhook?.user_id !== caller.userId || webhook.app_id !== caller.appId) throw noWebhook();
  if (webhook.service_wide) requireScopes(caller, ['admin']);
  return webhook;
}

/** The same for what is left of a webhook, which may be deleted by now. */
export async function accessPastWebhook(db: Db, caller: Caller, webhookId: WebhookId): Promise<void> {
  const owned = await findOwned(db, caller, webhookId);
  if (!owned) throw noWebhook();
  if (owned.service_wide) requireScopes(caller, ['admin']);
}

/** The same for a change to it: until the transaction ends nobody else decides who is told what. */
export async function lockWebhook(tx: Tx, caller: Caller, webhookId: WebhookId): Promise<WebhookRow> {
  await lockWebhooks(tx);
  return accessWebhook(tx, caller, webhookId);
}

async function shown(db: Db, webhookId: WebhookId, now: number): Promise<Webhook> {
  const webhook = await findWebhook(db, webhookId);
  const state = webhook && (await findEndpointState(db, webhookId));
  // Outside of a transaction it may have been deleted a moment ago.
  if (!webhook || !state) throw noWebhook();
  return present.webhook(webhook, state, await oldestUndelivered(db, webhook), now);
}

export function registerWebhook(services: Services): Handler<'webhooks.register'> {
  return async (call) => {
    const { caller, input } = call;
    if (input.service_wide) requireScopes(caller, ['admin']);
    if (input.include_direct && !input.service_wide)
      throw invalidField('include_direct', 'goes only with service_wide');
    // Before the transaction: a name server may take its time.
    const url = await services.webhooks.checkUrl(input.url);
    const secret = services.webhooks.seal(input.secret);
    return change(services, call, async (tx, at) => {
      await lockWebhooks(tx);
      if (!(await findToken(tx, caller.userId, caller.tokenId))) {
        throw new ParleyError('unauthorized', 'This access token has just been revoked.');
      }
      if (input.chat_id !== undefined) await requireChat(tx, caller, input.chat_id, input.service_wide);
      if ((await countWebhooks(tx, caller.userId)) >= services.webhooks.maxPerUser) {
        throw new ParleyError(
          'conflict',
          `You have ${services.webhooks.maxPerUser} webhooks, as many as PARLEY_WEBHOOK_LIMIT allows. Delete one first.`,
        );
      }
      const row = await insertWebhook(tx, {
        userId: caller.userId,
        appId: caller.appId,
        tokenId: caller.tokenId,
        url,
        events: input.events,
        chatId: input.chat_id ?? null,
        serviceWide: input.service_wide,
        includeDirect: input.include_direct,
        secret,
        sinceEvent: await logTip(tx),
        at,
      });
      const webhook = await shown(tx, row.webhook_id, at);
      await record(tx, at, actorOf(call), 'webhook_registered', auditOf(webhook));
      return { webhook };
    });
  };
}

async function requireChat(tx: Tx, { userId }: Caller, chatId: ChatId, serviceWide: boolean): Promise<void> {
  if (!serviceWide) await accessChatTo(tx, 'read', userId, chatId);
  else if (!(await findChatType(tx, chatId))) throw noChat();
}

export function listOfWebhooks({ engine, now }: Services): Handler<'webhooks.list'> {
  return async ({ caller, input }) => {
    const found = await listWebhooks(engine, caller, input.after_id, input.limit + 1);
    const { rows, has_more } = present.page(found, input.limit);
    const webhooks: Webhook[] = [];
    for (const row of rows) {
      const state = await findEndpointState(engine, row.webhook_id);
      if (state) webhooks.push(present.webhook(row, state, await oldestUndelivered(engine, row), now()));
    }
    return { webhooks, has_more };
  };
}

export function getWebhook({ engine, now }: Services): Handler<'webhooks.get'> {
  return async ({ caller, input }) => {
    const { webhook_id } = await accessWebhook(engine, caller, input.webhook_id);
    return { webhook: await shown(engine, webhook_id, now()) };
  };
}

export function updateOfWebhook(services: Services): Handler<'webhooks.update'> {
  return async (call) => {
    const { caller, input } = call;
    await accessWebhook(services.engine, caller, input.webhook_id);
    const url = input.url === undefined ? undefined : await services.webhooks.checkUrl(input.url);
    const answer = await change(services, call, async (tx, at) => {
      const webhook = await lockWebhook(tx, caller, input.webhook_id);
      const status = input.status ?? webhook.status;
      await updateWebhook(tx, webhook.webhook_id, {
        url: url ?? webhook.url,
        events: input.events ?? (JSON.parse(webhook.events) as string[]),
        status,
        reason: status === 'disabled' ? webhook.disabled_reason : null,
      });
      // Where messages go is on the strength of whoever said so last.
      if (url !== undefined && url !== webhook.url) await adoptWebhook(tx, webhook.webhook_id, caller.tokenId);
      if (status !== webhook.status) await changeStatus(tx, caller, webhook, status);
      else if (status === 'active' && url !== undefined) await tryAtOnce(tx, webhook.webhook_id);
      else await bumpRevision(tx, webhook.webhook_id, 'recheck');
      const changed = await shown(tx, webhook.webhook_id, at);
      await record(tx, at, actorOf(call), 'webhook_changed', auditOf(changed));
      return { webhook: changed };
    });
    await services.webhooks.changed();
    return answer;
  };
}

/** What is told of a webhook to those who look after security: where it leads, and how much it is told. */
const auditOf = ({ webhook_id, url, events, service_wide, include_direct, status }: Webhook): AuditDetails => ({
  webhook_id,
  url: withoutQuery(url),
  events,
  service_wide,
  include_direct,
  status,
});

/** A query often holds a key. */
const withoutQuery = (url: string): string => url.replace(/\?.*$/s, '?…');

async function changeStatus(tx: Tx, caller: Caller, webhook: WebhookRow, status: WebhookRow['status']): Promise<void> {
  const { webhook_id, disabled_reason } = webhook;
  const hadEnded = disabled_reason === 'access_revoked' || disabled_reason === 'user_disabled';
  if (hadEnded) {
    // What it missed was given up; from now on it is told again, on the strength of this token.
    await restartAfter(tx, webhook_id, await logTip(tx));
    await adoptWebhook(tx, webhook_id, caller.tokenId);
  }
  if (status === 'active') await tryAtOnce(tx, webhook_id);
  else await suspend(tx, webhook_id);
}

/** Whatever was wrong with its endpoint is forgotten, and nothing waits any longer. */
async function tryAtOnce(tx: Tx, webhookId: WebhookId): Promise<void> {
  await bumpRevision(tx, webhookId, 'retry_now');
  await makeAllDue(tx, webhookId);
}

export function rotateSecretOf(services: Services): Handler<'webhooks.rotate_secret'> {
  return async (call) => {
    const { caller, input } = call;
    const secret = services.webhooks.seal(input.secret);
    const answer = await change(services, call, async (tx, at) => {
      const { webhook_id } = await lockWebhook(tx, caller, input.webhook_id);
      await rotateSecret(tx, webhook_id, secret, at + overlapMs);
      await bumpRevision(tx, webhook_id, 'recheck');
      await record(tx, at, actorOf(call), 'webhook_secret_rotated', { webhook_id });
      return { webhook: await shown(tx, webhook_id, at) };
    });
    await services.webhooks.changed();
    return answer;
  };
}

export function deleteOneWebhook(services: Services): Handler<'webhooks.delete'> {
  return async (call) => {
    const answer = await change(services, call, async (tx, at) => {
      const { webhook_id } = await lockWebhook(tx, call.caller, call.input.webhook_id);
      await removeWebhook(tx, webhook_id, at);
      await record(tx, at, actorOf(call), 'webhook_deleted', { webhook_id });
      return { webhook_id };
    });
    await services.webhooks.changed();
    return answer;
  };
}

export function testWebhook(services: Services): Handler<'webhooks.test'> {
  return async ({ caller, input }) => {
    const webhook = await accessWebhook(services.engine, caller, input.webhook_id);
    const at = services.now();
    const body = present.sample(webhook.webhook_id, at);
    const id = `test-${Buffer.from(services.random(8)).toString('hex')}`;
    const made = await services.webhooks.attempt(webhook, { id, event: 'test', body, attempt: 1, replayId: 0, at });
    return { delivered: made.delivered, attempt: present.attempt({ ...made, number: 1, at }), body };
  };
}
