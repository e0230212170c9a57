import type { ClientInput, Delivery, LoggedEvent, OperationName, Webhook } from '@parley/contract';
import type { Client, Payload } from '../../server/test/support/client.ts';
import { eventTip } from '../../server/test/support/people.ts';
import type { WebhookEvidence } from './evidence.ts';

/** A registered webhook, and which events it should receive. */
export interface Registration extends Omit<WebhookEvidence, 'log' | 'arrivals'> {
  readonly owner: Client;
  /** It receives the events after this one. */
  readonly after: number;
  readonly filter: { readonly chat_id?: number };
}

/** Registers a webhook for everything that its owner sees from now on, or for one chat. */
export async function registerWebhook(
  name: string,
  owner: Client,
  url: string,
  filter: Registration['filter'] = {},
): Promise<Registration> {
  const secret = `the secret of ${name}`;
  const { webhook } = await owner.ok('webhooks.register', { url, events: ['*'], secret, ...filter });
  return { name, webhookId: webhook.webhook_id, secret, owner, after: await eventTip(owner), filter };
}

export const isExpected = ({ after, filter }: Registration, { event_id, data }: LoggedEvent): boolean =>
  event_id > after && (filter.chat_id === undefined || data.chat_id === filter.chat_id);

/** Calls an operation as the owner of webhooks, again and again until it succeeds. */
export type OwnerCall = <N extends OperationName>(
  name: N,
  input: ClientInput<N>,
  end: AbortSignal,
) => Promise<Payload<N> | undefined>;

export type WebhookOwner = ReturnType<typeof makeOwner>;

/** Returns what the owner of webhooks can do. `onHurry` is called for each wait that the owner cuts short. */
export function makeOwner(call: OwnerCall, onHurry = () => {}) {
  const deliveriesIn = async (webhook_id: number, state: Delivery['state'], end: AbortSignal): Promise<Delivery[]> =>
    (await call('webhooks.deliveries', { webhook_id, state, limit: 200 }, end))?.deliveries ?? [];
  /** Returns the webhooks that have undelivered events. */
  const behind = async (end: AbortSignal): Promise<Webhook[]> => {
    const { webhooks = [] } = (await call('webhooks.list', {}, end)) ?? {};
    return webhooks.filter((webhook) => webhook.oldest_undelivered_age !== null);
  };
  /**
   * Makes a webhook attempt at once what waits for its next attempt: the delays grow to hours. Pauses and activates it if
   * its endpoint is down, or if an earlier call was interrupted in between. Redelivers what the endpoint refused.
   */
  const hurry = async ({ webhook_id, status: found, next_attempt_at }: Webhook, end: AbortSignal): Promise<void> => {
    if (found === 'paused' || isLater(next_attempt_at)) {
      for (const status of ['paused', 'active'] as const) await call('webhooks.update', { webhook_id, status }, end);
      onHurry();
    }
    for (const { delivery_id, next_attempt_at: at } of await deliveriesIn(webhook_id, 'retrying', end)) {
      if (!isLater(at)) continue;
      await call('webhooks.redeliver', { delivery_id }, end);
      onHurry();
    }
  };
  return {
    behind,
    /** Hurries all webhooks that have undelivered events, or the one with this URL. */
    hurryAll: async (end: AbortSignal, url?: string): Promise<void> => {
      const late = await behind(end);
      for (const webhook of late) if (url === undefined || webhook.url === url) await hurry(webhook, end);
    },
    /** Returns the deliveries that did not succeed, as sentences. */
    undelivered: async (webhookId: number, end: AbortSignal): Promise<string[]> => {
      const lines: string[] = [];
      for (const state of ['pending', 'retrying', 'failed', 'skipped'] as const) {
        for (const { delivery_id, event_id, ...rest } of (await deliveriesIn(webhookId, state, end)).slice(-5)) {
          const { reason, attempt_count, last_error, next_attempt_at } = rest;
          const facts = JSON.stringify({ reason, attempt_count, last_error, next_attempt_at });
          lines.push(`delivery ${delivery_id} of event ${event_id} is ${state}: ${facts}`);
        }
      }
      return lines;
    },
  };
}

const isLater = (time: string | null) => time !== null && Date.parse(time) > Date.now();
