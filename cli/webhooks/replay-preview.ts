import { eventNames, type Webhook } from '@parley/contract';
import { ApiError, type Client } from '@parley-chat/sdk';
import { cursorAt } from '../listen/cursor-at.ts';

/** Counting stops here, so that a preview takes some seconds at most. */
const maxCounted = 10_000;

export interface ReplayRange {
  readonly from_event_id: number | undefined;
  readonly since: string | undefined;
  readonly only: ('failed' | 'skipped')[] | undefined;
}

export interface Preview {
  readonly count: number;
  /** There are more than were counted. */
  readonly isMore: boolean;
}

/** Counts the events that a replay would send. Returns undefined if its owner may not see all of them in the log. */
export async function previewReplay(
  client: Client,
  webhook: Webhook,
  range: ReplayRange,
): Promise<Preview | undefined> {
  if (range.only) return count(givenUp(client, webhook, range));
  return webhook.service_wide ? undefined : count(logged(client, webhook, range));
}

async function count(events: AsyncIterable<unknown>): Promise<Preview> {
  let count = 0;
  for await (const _ of events) {
    if (count === maxCounted) return { count, isMore: true };
    count++;
  }
  return { count, isMore: false };
}

/** Failed and skipped deliveries of events that are still in the log. */
async function* givenUp(client: Client, { webhook_id }: Webhook, { from_event_id = 0, since, only = [] }: ReplayRange) {
  for (const state of only) {
    for await (const delivery of client.webhooks.deliveries.all({ webhook_id, state, since, limit: 200 })) {
      if (delivery.event_id < from_event_id) break;
      if (delivery.replay_id === null && delivery.reason !== 'expired') yield delivery;
    }
  }
}

/** Events of the log that the webhook receives. */
async function* logged(client: Client, webhook: Webhook, { from_event_id, since }: ReplayRange) {
  const names = eventNames.filter((name) => webhook.events.includes(name));
  const isAll = webhook.events.includes('*');
  if (!isAll && names.length === 0) return;
  const filters = { chat_id: webhook.chat_id ?? undefined, events: isAll ? undefined : names };
  const after = since === undefined ? (from_event_id ?? 1) - 1 : await cursorAt(client, filters, since);
  try {
    for await (const event of client.events.list.all({ ...filters, after, limit: 200 })) {
      if (since === undefined || event.timestamp >= since) yield event;
    }
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'cursor_expired')) throw error;
    throw new Error('The log does not have the first event. It is deleted, or it has not happened yet.');
  }
}
