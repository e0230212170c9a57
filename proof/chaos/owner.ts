import type { Delivery, Webhook } from '@parley/contract';
import type { Client } from '../../server/test/support/client.ts';
import { insist } from './insist.ts';

/** The one whose webhooks they are, and what such a one can do about their troubles. */
export class Owner {
  readonly #client: Client;
  #hurries = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  /** How often something was tried at once because the owner asked for it. */
  get hurries(): number {
    return this.#hurries;
  }

  /** The webhooks that still have something to deliver. */
  async behind(end: AbortSignal): Promise<Webhook[]> {
    const { webhooks } = await insist(() => this.#client.call('webhooks.list', {}), end);
    return webhooks.filter((webhook) => webhook.oldest_undelivered_age !== null);
  }

  /**
   * Has a webhook try at once what waits for a later time: the waits grow to minutes and hours. One whose endpoint is down
   * is paused and made active again, also where somebody was interrupted in between; a delivery that was refused is asked for
   * by itself.
   */
  async hurry({ webhook_id, status: found, next_attempt_at }: Webhook, end: AbortSignal): Promise<void> {
    if (found === 'paused' || isLater(next_attempt_at)) {
      for (const status of ['paused', 'active'] as const) {
        await insist(() => this.#client.call('webhooks.update', { webhook_id, status }), end);
      }
      this.#hurries++;
    }
    for (const { delivery_id, next_attempt_at: at } of await this.#in(webhook_id, 'retrying', end)) {
      if (!isLater(at)) continue;
      await insist(() => this.#client.call('webhooks.redeliver', { delivery_id }), end);
      this.#hurries++;
    }
  }

  /** What has not been delivered, in words. */
  async unhappy(webhookId: number, end: AbortSignal): Promise<string[]> {
    const lines: string[] = [];
    for (const state of ['pending', 'retrying', 'failed', 'skipped'] as const) {
      for (const { delivery_id, event_id, ...rest } of (await this.#in(webhookId, state, end)).slice(-5)) {
        const { reason, attempt_count, last_error, next_attempt_at } = rest;
        const facts = JSON.stringify({ reason, attempt_count, last_error, next_attempt_at });
        lines.push(`delivery ${delivery_id} of event ${event_id} is ${state}: ${facts}`);
      }
    }
    return lines;
  }

  async #in(webhook_id: number, state: Delivery['state'], end: AbortSignal): Promise<Delivery[]> {
    const ask = { webhook_id, state, limit: 200 };
    return (await insist(() => this.#client.call('webhooks.deliveries', ask), end)).deliveries;
  }
}

const isLater = (time: string | null) => time !== null && Date.parse(time) > Date.now();
