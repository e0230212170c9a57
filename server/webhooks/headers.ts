import type { Sending } from '../domain/attempt.ts';
import { signedContent } from '../domain/signature.ts';

/** The secret, and the previous one for some time after a rotation. */
export type Secrets = readonly [current: string, ...previous: string[]];

interface Delivering extends Omit<Sending, 'replayId'> {
  readonly secrets: Secrets;
  /** Absent if the endpoint is not registered. */
  readonly webhookId?: number | undefined;
  /** The replay that created the delivery, if one did. */
  readonly replayId?: number | undefined;
  /** The version of Parley. */
  readonly version: string;
}

/** The headers that hold signatures. */
export const signatureHeaders = ['X-Webhook-Signature', 'webhook-signature'] as const;

/** Returns every header of one attempt, signatures included. */
export function deliveryHeaders(delivering: Delivering): Record<string, string> {
  const { id, event, body, at, secrets, attempt, webhookId, replayId, version } = delivering;
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'User-Agent': `Parley-Webhooks/${version}`,
    'X-Webhook-Id': id,
    'X-Webhook-Event': event,
    'X-Webhook-Attempt': String(attempt),
    'X-Webhook-Signature': bodySignature(secrets, body),
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1_000)),
    'webhook-signature': timedSignature(secrets, id, at, body),
  };
  if (webhookId !== undefined) headers['X-Webhook-Registration'] = String(webhookId);
  if (replayId !== undefined) headers['X-Webhook-Replay'] = String(replayId);
  return headers;
}

const hmac = (secret: string, text: string, encoding: 'hex' | 'base64') =>
  new Bun.CryptoHasher('sha256', secret).update(text).digest(encoding);

/** The specification's signature, of the body alone. Its header has room for one, made with the current secret. */
const bodySignature = ([current]: Secrets, body: string): string => `sha256=${hmac(current, body, 'hex')}`;

/** The signature of Standard Webhooks, which binds the body to its id and to the time: one for each secret. */
function timedSignature(secrets: Secrets, id: string, at: number, body: string): string {
  const content = signedContent(id, at, body);
  const sign = (secret: string) => `v1,${hmac(secret, content, 'base64')}`;
  return secrets.length === 1 ? sign(secrets[0]) : secrets.map(sign).join(' ');
}
