import type { Webhook } from '@parley/contract';
import { ApiError, type Client } from '@parley-chat/sdk';
import type { WebhookHealth } from '@parley-chat/sdk/operations.ts';

/** The server counts a webhook as a request. */
const maxAsked = 20;

/** Returns the health of the first webhooks that have events to deliver and may fail, by their ids. */
export async function failingOf(
  client: Client,
  webhooks: readonly Pick<Webhook, 'webhook_id' | 'status' | 'oldest_undelivered_age'>[],
): Promise<ReadonlyMap<number, WebhookHealth>> {
  const waiting = webhooks.filter(({ status, oldest_undelivered_age: age }) => status === 'active' && age !== null);
  const asked = await Promise.all(waiting.slice(0, maxAsked).map(({ webhook_id }) => healthOf(client, webhook_id)));
  return new Map(
    asked.flatMap((health) => (health && health.retrying_count > 0 ? [[health.webhook_id, health] as const] : [])),
  );
}

/** Returns undefined if it is gone, or if the token may not see the deliveries of the whole service. */
async function healthOf(client: Client, webhook_id: number): Promise<WebhookHealth | undefined> {
  try {
    return (await client.webhooks.health({ webhook_id })).webhooks[0];
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
