import { createHmac } from 'node:crypto';
import { signedContent } from '../domain/signature.ts';

export interface Signed {
  /** The event's id as it stands in the headers. */
  readonly id: string;
  /** The exact text of the body, signed as UTF-8. */
  readonly body: string;
  /** When this attempt is made, in milliseconds since 1970. */
  readonly at: number;
  /** The secret; after a rotation the one before it too, for as long as both are honoured. */
  readonly secrets: readonly [current: string, ...previous: string[]];
}

const hmac = (secret: string, text: string, encoding: 'hex' | 'base64') =>
  createHmac('sha256', secret).update(text).digest(encoding);

/**
 * Both signatures of one attempt. The specification's header can hold a single one, so it is made with the current
 * secret; the Standard Webhooks header holds one for each secret.
 */
export function signatureHeaders({ id, body, at, secrets }: Signed): Record<string, string> {
  const content = signedContent(id, at, body);
  return {
    'X-Webhook-Signature': `sha256=${hmac(secrets[0], body, 'hex')}`,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1_000)),
    'webhook-signature': secrets.map((secret) => `v1,${hmac(secret, content, 'base64')}`).join(' '),
  };
}
