import { type DeliveryId, ParleyError } from '@parley/contract';
import type { Caller } from '../auth/caller.ts';
import type { Db } from '../store/engine/engine.ts';
import { eventsNamed, firstEventSince } from '../store/log/events.ts';
import {
  type DeliveryRow,
  findDelivery,
  isSettled,
  makeDeliveryDue,
  skipDelivery,
} from '../store/webhooks/deliveries.ts';
import { listDeliveries } from '../store/webhooks/delivery-pages.ts';
import { attemptsOf, recordResend } from '../store/webhooks/delivery-results.ts';
import { bumpRevision } from '../store/webhooks/endpoint-state.ts';
import { finishReplays, noteSettled } from '../store/webhooks/replays.ts';
import { findWebhook, lockWebhooks, type WebhookRow } from '../store/webhooks/webhooks.ts';
import type { Call, Handlers, Services } from './operation.ts';
import * as present from './present.ts';
import { accessPastWebhook, changeWebhook, lockWebhook } from './webhooks.ts';

/** Returns a delivery of the caller, whose webhook may be deleted. Throws `not_found` for any other. */
async function accessDelivery(db: Db, caller: Caller, deliveryId: DeliveryId): Promise<DeliveryRow> {
  const delivery = await findDelivery(db, caller, deliveryId);
  if (!delivery) throw new ParleyError('not_found', 'You have no such delivery.');
  await accessPastWebhook(db, caller, delivery.webhook_id);
  return delivery;
}

export const deliveryHandlers = (services: Services) => {
  const { engine } = services;
  return {
    'webhooks.deliveries': async ({ caller, input }) => {
      await accessPastWebhook(engine, caller, input.webhook_id);
      const { webhook_id, state, event, chat_id, replay_id, since, until, before_id, limit } = input;
      const { rows, next } = await listDeliveries(engine, {
        webhookId: webhook_id,
        state,
        event,
        chatId: chat_id,
        replayId: replay_id,
        fromEvent: since === undefined ? 0 : await firstEventSince(engine, since),
        toEvent: until === undefined ? Number.MAX_SAFE_INTEGER : (await firstEventSince(engine, until)) - 1,
        before: before_id === undefined ? undefined : await accessDelivery(engine, caller, before_id),
        limit,
      });
      return { deliveries: rows.map(present.delivery), has_more: next !== undefined, next: next ?? null };
    },

    'webhooks.delivery': async ({ caller, input }) => {
      const delivery = await accessDelivery(engine, caller, input.delivery_id);
      const [event] = await eventsNamed(engine, [delivery.event_id]);
      // Excludes attempts that were made since the delivery was read.
      const attempts = await attemptsOf(engine, delivery.delivery_id, delivery.attempts);
      const body = event?.body;
      const webhook = await findWebhook(engine, delivery.webhook_id);
      const headers = services.webhooks.sentHeaders(webhook, delivery, body);
      return { delivery: { ...present.deliveryInFull(delivery, attempts, body), headers } };
    },

    'webhooks.redeliver': async (call) => {
      const delivery = await accessDelivery(engine, call.caller, call.input.delivery_id);
      const webhook = await findWebhook(engine, delivery.webhook_id);
      if (!webhook) throw new ParleyError('conflict', 'Its webhook is deleted.');
      if (!isSettled(delivery.state)) return makeDue(services, webhook)(call);
      return { delivery: await sendAgain(services, call, webhook, delivery) };
    },

    'webhooks.skip': changeWebhook(services, async (tx, at, { caller, input: { delivery_id } }) => {
      await lockWebhooks(tx);
      const { webhook_id, replay_id, state } = await accessDelivery(tx, caller, delivery_id);
      await bumpRevision(tx, webhook_id, 'recheck');
      if (!(await skipDelivery(tx, delivery_id, 'by_owner', at))) {
        throw new ParleyError('conflict', `This delivery is ${state} already.`);
      }
      if (replay_id !== 0) {
        await noteSettled(tx, [{ replay_id, delivered: 0, failed: 0, skipped: 1 }]);
        await finishReplays(tx, webhook_id, at);
      }
      return { delivery: present.delivery(await accessDelivery(tx, caller, delivery_id)) };
    }),
  } satisfies Partial<Handlers>;
};

/** Makes an open delivery due now, in its turn. */
function makeDue(services: Services, { webhook_id, status }: WebhookRow) {
  if (status !== 'active') throw new ParleyError('conflict', `Its webhook is ${status}. Make it active first.`);
  return changeWebhook<'webhooks.redeliver'>(services, async (tx, _at, { caller, input: { delivery_id } }) => {
    await lockWebhook(tx, caller, webhook_id);
    await bumpRevision(tx, webhook_id, 'retry_now');
    await makeDeliveryDue(tx, delivery_id);
    return { delivery: present.delivery(await accessDelivery(tx, caller, delivery_id)) };
  });
}

/** Sends a settled delivery once more, outside its queue. */
async function sendAgain(
  services: Services,
  { caller, isForwarded }: Call<'webhooks.redeliver'>,
  webhook: WebhookRow,
  delivery: DeliveryRow,
) {
  const { delivery_id, event_id, replay_id, refusals, event: name } = delivery;
  const [event] = await eventsNamed(services.engine, [event_id]);
  if (!event) throw new ParleyError('conflict', 'Its event has expired.');
  const at = services.now();
  const attempt = delivery.attempts + 1;
  const sending = {
    id: String(event_id),
    event: name,
    body: event.body,
    attempt,
    replayId: replay_id,
    at,
    isForwarded: isForwarded(),
  };
  const { delivered, ...made } = await services.webhooks.attempt(webhook, sending, 'webhook');
  const state = delivered ? 'delivered' : delivery.state;
  await services.engine.write((tx) =>
    recordResend(tx, delivery, {
      ...made,
      delivery_id,
      state,
      attempts: attempt,
      refusals,
      next_at: null,
      at,
      secret_number: webhook.secret_number,
    }),
  );
  services.deliveriesChanged(caller.userId, webhook.webhook_id);
  return present.delivery(await accessDelivery(services.engine, caller, delivery_id));
}
