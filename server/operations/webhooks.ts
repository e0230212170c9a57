import {
  type ChatId,
  type Input,
  invalidField,
  type Output,
  ParleyError,
  type Webhook,
  type WebhookHealth,
  type WebhookId,
} from '@parley/contract';
import { type AuditDetails, record } from '../auth/audit.ts';
import { type Caller, requireScopes } from '../auth/caller.ts';
import { requireRecentPassword } from '../auth/recent-password.ts';
import { type Throttle, takeAttempt } from '../store/access/throttles.ts';
import { findChatType } from '../store/chat/chats.ts';
import type { Db, Tx } from '../store/engine/engine.ts';
import { firstEventSince, logTip } from '../store/log/events.ts';
import { makeAllDue } from '../store/webhooks/deliveries.ts';
import { bumpRevision, findEndpointState } from '../store/webhooks/endpoint-state.ts';
import { removeWebhook, suspend } from '../store/webhooks/webhook-ends.ts';
import { findVisibleEvent, oldestUndelivered } from '../store/webhooks/webhook-events.ts';
import { readDeliveryCounts } from '../store/webhooks/webhook-health.ts';
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
import { accessChatTo, noChat, requireValidToken } from './access.ts';
import { actorOf, type Call, change, type Handlers, type Services, type UrlCheck } from './operation.ts';
import * as present from './present.ts';
import { webhookWarnings } from './webhook-warnings.ts';

/** For so long, deliveries are also signed with the secret before a rotation. */
const overlapMs = 24 * 3_600_000;

/** Of a person with their bots, to any hosts: otherwise Parley would try many URLs for somebody who looks for open ports. */
const urlTests: Throttle = { burst: 10, everyMs: 6_000 };

/** Health counts the deliveries of events of this time. */
const recentMs = 24 * 3_600_000;

const noWebhook = () => new ParleyError('not_found', 'You have no such webhook.');

/**
 * Returns a webhook of the caller: of the same user and the same app. Throws `not_found` for any other. A service-wide webhook
 * carries what only administrators may see, so every access to it requires an administrator.
 */
export async function accessWebhook(db: Db, caller: Caller, webhookId: WebhookId): Promise<WebhookRow> {
  const webhook = await findWebhook(db, webhookId);
  if (webhook?.user_id !== caller.userId || webhook.app_id !== caller.appId) throw noWebhook();
  if (webhook.service_wide) requireScopes(caller, ['admin']);
  return webhook;
}

/** Checks the same for a webhook that may be deleted. */
export async function accessPastWebhook(db: Db, caller: Caller, webhookId: WebhookId): Promise<void> {
  const owned = await findOwned(db, caller, webhookId);
  if (!owned) throw noWebhook();
  if (owned.service_wide) requireScopes(caller, ['admin']);
}

/** Returns a webhook of the caller, and locks all webhooks until the end of the transaction. */
export async function lockWebhook(tx: Tx, caller: Caller, webhookId: WebhookId): Promise<WebhookRow> {
  await lockWebhooks(tx);
  return accessWebhook(tx, caller, webhookId);
}

/** The operations that change a webhook or its deliveries. */
type ChangeName =
  `webhooks.${'register' | 'update' | 'rotate_secret' | 'delete' | 'skip' | 'redeliver' | 'replay' | 'cancel_replay'}`;

/** Like `change`, but resolves once this process acts on the changed webhook. Tells the streams of the owner. */
export function changeWebhook<N extends ChangeName>(services: Services, work: Parameters<typeof change<N>>[1]) {
  const run = change(services, work);
  return async (call: Call<N>) => {
    const result = await run(call);
    await services.webhooks.changed();
    services.deliveriesChanged(call.caller.userId, webhookIdOf(result as Output<ChangeName>));
    return result;
  };
}

/** Returns the webhook that the result of a change is about. */
function webhookIdOf(result: Output<ChangeName>): WebhookId {
  if ('webhook' in result) return result.webhook.webhook_id;
  if ('delivery' in result) return result.delivery.webhook_id;
  return 'replay' in result ? result.replay.webhook_id : result.webhook_id;
}

/** Service-wide webhooks are registered only by an administrator who has just entered their password. */
function requireForService(caller: Caller, now: number): void {
  requireScopes(caller, ['admin']);
  requireRecentPassword(caller, now, '/console/webhooks');
}

/** Its deliveries were skipped when its access ended. */
export const hasLostAccess = ({ disabled_reason }: WebhookRow): boolean =>
  disabled_reason === 'access_revoked' || disabled_reason === 'user_disabled';

async function show(db: Db, webhook: WebhookRow, now: number): Promise<Webhook | undefined> {
  const state = await findEndpointState(db, webhook.webhook_id);
  return state && present.webhook(webhook, state, await oldestUndelivered(db, webhook), now);
}

async function showCurrent(db: Db, webhookId: WebhookId, now: number): Promise<Webhook> {
  const webhook = await findWebhook(db, webhookId);
  const shown = webhook && (await show(db, webhook, now));
  // Outside of a transaction it may have been deleted a moment ago.
  if (!shown) throw noWebhook();
  return shown;
}

const checkFor = ({ caller, isForwarded }: Pick<Call<'webhooks.register'>, 'caller' | 'isForwarded'>): UrlCheck => ({
  isForwarded: isForwarded(),
  isAdmin: isAdministrator(caller),
});

const isAdministrator = ({ isAdmin, scopes }: Caller): boolean => isAdmin && scopes.has('admin');

export const webhookHandlers = (services: Services) => {
  const { engine, now } = services;
  return {
    'webhooks.register': async (call) => {
      const { caller, input } = call;
      if (input.service_wide) requireForService(caller, now());
      if (input.include_direct && !input.service_wide)
        throw invalidField('include_direct', 'goes only with service_wide');
      // Before the transaction, because a DNS lookup may take long.
      const url = await services.webhooks.checkUrl(input.url, checkFor(call));
      return changeWebhook<'webhooks.register'>(services, (tx, at) => register(services, tx, at, call, url))(call);
    },

    'webhooks.list': async ({ caller, input }) => {
      const found = await listWebhooks(engine, caller, input.after_id, input.limit + 1);
      const { rows, has_more } = present.page(found, input.limit);
      const webhooks: Webhook[] = [];
      for (const row of rows) {
        const shown = await show(engine, row, now());
        if (shown) webhooks.push(shown);
      }
      return { webhooks, has_more };
    },

    'webhooks.get': async ({ caller, input }) => {
      const { webhook_id } = await accessWebhook(engine, caller, input.webhook_id);
      return { webhook: await showCurrent(engine, webhook_id, now()) };
    },

    'webhooks.health': async ({ caller, input: { webhook_id, after_id, limit }, charge }) => {
      const found =
        webhook_id === undefined
          ? await listWebhooks(engine, caller, after_id, limit + 1)
          : [await accessWebhook(engine, caller, webhook_id)];
      const { rows, has_more } = present.page(found, limit);
      // The last failure of a service-wide webhook names chats of others.
      const visible = rows.filter((row) => !row.service_wide || isAdministrator(caller));
      const fromEvent = await firstEventSince(engine, now() - recentMs);
      // Each costs about as much as a request, and one after the other leaves room for those of others.
      charge?.(visible.length);
      const webhooks: WebhookHealth[] = [];
      for (const row of visible) {
        const [webhook, counts] = [await show(engine, row, now()), await readDeliveryCounts(engine, row, fromEvent)];
        if (webhook) webhooks.push(present.webhookHealth(webhook, counts));
      }
      return { webhooks, has_more };
    },

    'webhooks.update': async (call) => {
      const { caller, input } = call;
      const webhook = await accessWebhook(engine, caller, input.webhook_id);
      // A new URL, or new access, makes it another webhook.
      const isRemade = input.url !== undefined || (input.status === 'active' && hasLostAccess(webhook));
      if (webhook.service_wide && isRemade) requireForService(caller, now());
      const url = input.url === undefined ? undefined : await services.webhooks.checkUrl(input.url, checkFor(call));
      return changeWebhook<'webhooks.update'>(services, (tx, at) => update(tx, at, call, url))(call);
    },

    'webhooks.rotate_secret': changeWebhook(services, async (tx, at, call) => {
      const { webhook_id } = await lockWebhook(tx, call.caller, call.input.webhook_id);
      await rotateSecret(tx, webhook_id, services.webhooks.seal(call.input.secret), at + overlapMs);
      await bumpRevision(tx, webhook_id, 'recheck');
      await record(tx, at, actorOf(call), 'webhook_secret_rotated', { webhook_id });
      return { webhook: await showCurrent(tx, webhook_id, at), warnings: webhookWarnings(call.input) };
    }),

    'webhooks.delete': changeWebhook(services, async (tx, at, call) => {
      const { webhook_id } = await lockWebhook(tx, call.caller, call.input.webhook_id);
      await removeWebhook(tx, webhook_id, at);
      await record(tx, at, actorOf(call), 'webhook_deleted', { webhook_id });
      return { webhook_id };
    }),

    'webhooks.test': async (call) => {
      const { caller, input } = call;
      const { webhook_id, url, secret } = input;
      const webhook = webhook_id === undefined ? undefined : await accessWebhook(engine, caller, webhook_id);
      const tested = url === undefined ? undefined : await services.webhooks.checkUrl(url, checkFor(call));
      const at = now();
      if (tested !== undefined) await engine.write((tx) => takeUrlTest(tx, at, call, tested));
      const endpoint = webhook
        ? { ...webhook, url: tested ?? webhook.url }
        : { url: tested ?? '', secret: secret ?? '', ownerId: caller.ownerId };
      const { event, body } = await testOf(engine, webhook, input, at);
      const id = `test-${Buffer.from(services.random(8)).toString('hex')}`;
      const sending = { id, event, body, attempt: 1, replayId: 0, at, isForwarded: call.isForwarded() };
      const made = await services.webhooks.attempt(endpoint, sending, tested === undefined ? 'webhook' : 'url');
      return { delivered: made.delivered, attempt: present.attempt({ ...made, number: 1, at }), body };
    },
  } satisfies Partial<Handlers>;
};

/** Counts and records a test of a URL that is not that of a webhook. Throws `rate_limited` after too many. */
async function takeUrlTest(tx: Tx, at: number, call: Call<'webhooks.test'>, url: string): Promise<void> {
  const waitMs = await takeAttempt(tx, `url tests of ${call.caller.ownerId}`, urlTests, at);
  if (waitMs > 0) {
    const wait = `Try again in ${Math.ceil(waitMs / 1_000)} s.`;
    throw new ParleyError('rate_limited', `You and your bots have tested ${urlTests.burst} URLs in a minute. ${wait}`);
  }
  await record(tx, at, actorOf(call), 'webhook_url_tested', { url: withoutQuery(url) });
}

/** Returns the event that a test sends. Throws `not_found` for one that the webhook cannot receive, whatever its name. */
async function testOf(
  db: Db,
  webhook: WebhookRow | undefined,
  { event, event_id }: Input<'webhooks.test'>,
  at: number,
): Promise<{ event: string; body: string }> {
  if (event !== undefined) return { event, body: present.exampleBody(event, at) };
  if (event_id === undefined) return { event: 'test', body: present.testBody(webhook?.webhook_id ?? null, at) };
  const found = webhook && (await findVisibleEvent(db, webhook, event_id));
  if (!found) throw new ParleyError('not_found', 'This webhook receives no such event, or it has expired.');
  return found;
}

async function register(services: Services, tx: Tx, at: number, call: Call<'webhooks.register'>, url: string) {
  const { caller, input } = call;
  const { maxPerOwner, seal } = services.webhooks;
  await lockWebhooks(tx);
  await requireValidToken(tx, caller);
  if (input.chat_id !== undefined) await requireChat(tx, caller, input.chat_id, input.service_wide);
  if ((await countWebhooks(tx, caller.ownerId)) >= maxPerOwner) {
    const limit = `You and your bots have ${maxPerOwner} webhooks, as many as PARLEY_WEBHOOK_LIMIT allows.`;
    throw new ParleyError('conflict', `${limit} Delete one first.`);
  }
  const row = await insertWebhook(tx, {
    userId: caller.userId,
    appId: caller.appId,
    tokenId: caller.tokenId,
    url,
    events: unique(input.events),
    chatId: input.chat_id ?? null,
    serviceWide: input.service_wide,
    includeDirect: input.include_direct,
    secret: seal(input.secret),
    sinceEvent: await logTip(tx),
    at,
  });
  const webhook = await showCurrent(tx, row.webhook_id, at);
  await record(tx, at, actorOf(call), 'webhook_registered', auditDetails(webhook));
  return { webhook, warnings: webhookWarnings(input) };
}

const unique = (names: readonly string[]): string[] => [...new Set(names)];

async function requireChat(tx: Tx, { userId }: Caller, chatId: ChatId, serviceWide: boolean): Promise<void> {
  if (!serviceWide) await accessChatTo(tx, 'read', userId, chatId);
  else if (!(await findChatType(tx, chatId))) throw noChat();
}

async function update(tx: Tx, at: number, call: Call<'webhooks.update'>, url: string | undefined) {
  const { caller, input } = call;
  const webhook = await lockWebhook(tx, caller, input.webhook_id);
  const { webhook_id } = webhook;
  const status = input.status ?? webhook.status;
  await updateWebhook(tx, webhook_id, {
    url: url ?? webhook.url,
    events: input.events ? unique(input.events) : (JSON.parse(webhook.events) as string[]),
    status,
    reason: status === 'disabled' ? webhook.disabled_reason : null,
  });
  // The webhook ends with the token that last set its URL.
  if (url !== undefined && url !== webhook.url) await adoptWebhook(tx, webhook_id, caller.tokenId);
  if (status !== webhook.status) await changeStatus(tx, caller, webhook, status);
  else if (status === 'active' && url !== undefined) await retryNow(tx, webhook_id);
  else await bumpRevision(tx, webhook_id, 'recheck');
  const changed = await showCurrent(tx, webhook_id, at);
  await record(tx, at, actorOf(call), 'webhook_changed', auditDetails(changed));
  return { webhook: changed, warnings: webhookWarnings(input) };
}

/** The query often holds a key. */
const withoutQuery = (url: string): string => url.replace(/\?.*$/s, '?…');

const auditDetails = ({ webhook_id, url, events, service_wide, include_direct, status }: Webhook): AuditDetails => ({
  webhook_id,
  url: withoutQuery(url),
  events,
  service_wide,
  include_direct,
  status,
});

async function changeStatus(tx: Tx, caller: Caller, webhook: WebhookRow, status: WebhookRow['status']): Promise<void> {
  const { webhook_id } = webhook;
  if (hasLostAccess(webhook)) {
    // Its missed events were skipped. It receives new ones, and ends with this token.
    await restartAfter(tx, webhook_id, await logTip(tx));
    await adoptWebhook(tx, webhook_id, caller.tokenId);
  }
  if (status === 'active') await retryNow(tx, webhook_id);
  else await suspend(tx, webhook_id);
}

/** Resets the health of the endpoint, and makes every open delivery due. */
async function retryNow(tx: Tx, webhookId: WebhookId): Promise<void> {
  await bumpRevision(tx, webhookId, 'retry_now');
  await makeAllDue(tx, webhookId);
}
