import { type Signed, signatureHeaders } from './signature.ts';

export interface Delivering extends Signed {
  readonly event: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly webhookId: number;
  /** The job that asked for it again, where one did. */
  readonly replayId?: number | undefined;
  /** The version of Parley that sends it. */
  readonly version: string;
}

/** Every header of one attempt. */
export function deliveryHeaders(delivering: Delivering): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': `Parley-Webhooks/${delivering.version}`,
    'X-Webhook-Id': delivering.id,
    'X-Webhook-Event': delivering.event,
    'X-Webhook-Attempt': String(delivering.attempt),
    'X-Webhook-Registration': String(delivering.webhookId),
    ...(delivering.replayId !== undefined && { 'X-Webhook-Replay': String(delivering.replayId) }),
    ...signatureHeaders(delivering),
  };
}
