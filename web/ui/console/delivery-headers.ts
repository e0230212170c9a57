import type { DeliveryInFull } from '@parley-chat/sdk/operations.ts';

const agent = 'Parley-Webhooks';

type Names = readonly (readonly [name: string, value: string])[];

/** Returns the time of the last attempt in Unix seconds, as it was signed, or undefined before the first one. */
function timestampOf({ signed_content, attempt_count }: DeliveryInFull): string | undefined {
  return attempt_count === 0 ? undefined : /^[^.]*\.(\d+)\./.exec(signed_content ?? '')?.[1];
}

/** Returns the headers of the last attempt of a delivery, except for the signatures: only the server has the secret. */
export function headersOf(delivery: DeliveryInFull, version: string): Names {
  const { event_id, event, attempt_count, webhook_id, replay_id } = delivery;
  const timestamp = timestampOf(delivery);
  return [
    ['Content-Type', 'application/json'],
    ['User-Agent', `${agent}/${version}`],
    ['X-Webhook-Id', String(event_id)],
    ['X-Webhook-Event', event],
    ['X-Webhook-Attempt', String(Math.max(1, attempt_count))],
    ['X-Webhook-Registration', String(webhook_id)],
    ...(replay_id === null ? [] : ([['X-Webhook-Replay', String(replay_id)]] as const)),
    ['webhook-id', String(event_id)],
    ...(timestamp === undefined ? [] : ([['webhook-timestamp', timestamp]] as const)),
  ];
}

/** Returns headers as text, one on each line. */
export const writeHeaders = (headers: Names): string => headers.map(([name, value]) => `${name}: ${value}`).join('\n');

/** The version of the server that made the page. */
export const serverVersion = (): string => document.getElementById('app')?.dataset.version ?? '';
