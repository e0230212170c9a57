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
import { change, type Handler, type Services } from './operation.ts';
import * as present from './present.ts';
import { accessPastWebhook, lockWebhook } from './webhooks.ts';

/** The one door from an id to a delivery: that of its webhook, which may be deleted by now. */
async function accessDelivery(db: Db, caller: Caller, deliveryId: DeliveryId): Promise<DeliveryRow> {
  const delivery = await findDelivery(db, caller, deliveryId);
  if (!delivery) throw new ParleyError('not_found', 'You have no such delivery.');
  await accessPastWebhook(db, caller, delivery.webhook_id);
  return delivery;
}

export function listOfDeliveries({ engine }: Services): Handler<'webhooks.deliveries'> {
  return async ({ caller, input }) => {
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
  };
}

export function getDelivery({ engine }: Services): Handler<'webhooks.delivery'> {
  return async ({ caller, input }) => {
    const delivery = await accessDelivery(engine, caller, input.delivery_id);
    const [event] = await eventsNamed(engine, [delivery.event_id]);
    // One that was made since the delivery was read would contradict it.
    const attempts = await attemptsOf(engine, delivery.delivery_id, delivery.attempts);
    return { delivery: present.deliveryInFull(delivery, attempts, event?.body) };
  };
}

export function redeliver(services: Services): Handler<'webhooks.redeliver'> {
  return async (call) => {
    const delivery = await accessDelivery(services.engine, call.caller, call.input.delivery_id);
    const webhook = await findWebhook(services.engine, delivery.webhook_id);
    if (!webhook) throw new ParleyError('conflict', 'Its webhook is deleted.');
    if (!isSettled(delivery.state)) return hurry(services, call, webhook);
    return { delivery: await sendAgain(services, call.caller, webhook, delivery) };
  };
}

/** Makes an open delivery due now, in its turn. */
async function hurry(
  services: Services,
  call: Parameters<Handler<'webhooks.redeliver'>>[0],
  { webhook_id, status }: WebhookRow,
) {
  if (status !== 'active') throw new ParleyError('conflict', `Its webhook is ${status}. Make it active first.`);
  const answer = await change(services, call, async (tx) => {
    await lockWebhook(tx, call.caller, webhook_id);
    await bumpRevision(tx, webhook_id, 'retry_now');
    await makeDeliveryDue(tx, call.input.delivery_id);
    return { delivery: present.delivery(await accessDelivery(tx, call.caller, call.input.delivery_id)) };
  });
  await services.webhooks.changed();
  return answer;
}

/** Sends a settled delivery once more, outside its queue. */
async function sendAgain(services: Services, caller: Caller, webhook: WebhookRow, delivery: DeliveryRow) {
  const { delivery_id, event_id, replay_id, event: name } = delivery;
  const [event] = await eventsNamed(services.engine, [event_id]);
  if (!event) throw new ParleyError('conflict', 'Its event is no longer kept.');
  const at = services.now();
  const attempt = delivery.attempts + 1;
  const sending = { id: String(event_id), event: name, body: event.body, attempt, replayId: replay_id, at };
  const made = await services.webhooks.attempt(webhook, sending);
  await services.engine.write((tx) =>
    recordResend(tx, delivery, {
      delivery_id,
      state: made.delivered ? 'delivered' : delivery.state,
      attempts: attempt,
      refusals: delivery.refusals,
      next_at: null,
      at,
      status: made.status,
      error: made.error,
      duration_ms: made.duration_ms,
      answer: made.answer,
    }),
  );
  return present.delivery(await accessDelivery(services.engine, caller, delivery_id));
}

export function skip(services: Services): Handler<'webhooks.skip'> {
  return async (call) => {
    const { caller, input } = call;
    const answer = await change(services, call, async (tx, at) => {
      await lockWebhooks(tx);
      const { webhook_id, replay_id, state } = await accessDelivery(tx, caller, input.delivery_id);
      await bumpRevision(tx, webhook_id, 'recheck');
      if (!(await skipDelivery(tx, input.delivery_id, 'by_owner', at))) {
        throw new ParleyError('conflict', `This delivery is ${state} already.`);
      }
      if (replay_id !== 0) {
        await noteSettled(tx, [{ replay_id, delivered: 0, failed: 0, skipped: 1 }]);
        await finishReplays(tx, webhook_id, at);
      }
      return { delivery: present.delivery(await accessDelivery(tx, caller, input.delivery_id)) };
    });
    await services.webhooks.changed();
    return answer;
  };
}
