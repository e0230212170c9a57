import { signedContent } from '../domain/signature.ts';

/** The secret; after a rotation the one before it too, for as long as both are honoured. */
export type Secrets = readonly [current: string, ...previous: string[]];

const hmac = (secret: string, text: string, encoding: 'hex' | 'base64') =>
  new Bun.CryptoHasher('sha256', secret).update(text).digest(encoding);

/** The specification's signature, of the body alone. Its header can hold one, so it is made with the current secret. */
export const bodySignature = ([current]: Secrets, body: string): string => `sha256=${hmac(current, body, 'hex')}`;

/** That of Standard Webhooks, which binds the body to its id and to the time of the attempt: one for each secret. */
export function stampedSignature(secrets: Secrets, id: string, at: number, body: string): string {
  const content = signedContent(id, at, body);
  const sign = (secret: string) => `v1,${hmac(secret, content, 'base64')}`;
  return secrets.length === 1 ? sign(secrets[0]) : secrets.map(sign).join(' ');
}
