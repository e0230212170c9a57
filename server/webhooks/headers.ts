import { bodySignature, type Secrets, stampedSignature } from './signature.ts';

export interface Delivering {
  /** The event's id as it stands in the headers. */
  readonly id: string;
  readonly event: string;
  /** The exact text of the body, signed as UTF-8. */
  readonly body: string;
  /** When this attempt is made, in milliseconds since 1970. */
  readonly at: number;
  readonly secrets: Secrets;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly webhookId: number;
  /** The job that asked for it again, where one did. */
  readonly replayId?: number | undefined;
  /** The version of Parley that sends it. */
  readonly version: string;
}

/** Every header of one attempt, signed for it. */
export function deliveryHeaders(delivering: Delivering): Record<string, string> {
  const { id, event, body, at, secrets, attempt, webhookId, replayId, version } = delivering;
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'User-Agent': `Parley-Webhooks/${version}`,
    'X-Webhook-Id': id,
    'X-Webhook-Event': event,
    'X-Webhook-Attempt': String(attempt),
    'X-Webhook-Registration': String(webhookId),
    'X-Webhook-Signature': bodySignature(secrets, body),
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1_000)),
    'webhook-signature': stampedSignature(secrets, id, at, body),
  };
  if (replayId !== undefined) headers['X-Webhook-Replay'] = String(replayId);
  return headers;
}
