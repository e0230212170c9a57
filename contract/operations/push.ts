import { z } from 'zod';
import { subscriptionId } from '../fields.ts';
import type { Limits } from '../limits.ts';
import { get, post } from '../operation.ts';
import { pushSubscription } from '../records.ts';

const laptop = {
  subscription_id: 1,
  endpoint: 'http://127.0.0.1:9/push/1',
  browser: null,
  with_text: true,
  created_at: '2026-01-01T12:00:00.000Z',
};

/** The public key of RFC 8291, appendix A. */
const p256dh = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4';

/** A key in base64url, of so many characters without the padding. */
const key = (characters: number, padding: string, description: string) =>
  z
    .string()
    .regex(new RegExp(`^[A-Za-z0-9_-]{${characters}}(${padding})?$`), 'must be a key in base64url, as browsers give it')
    .meta({ description });

export const push = (_limits: Limits) => ({
  key: get([], {
    summary: 'Get the public key of this server, with which a browser subscribes (`applicationServerKey`).',
    input: z.strictObject({}),
    output: z.object({
      public_key: z.string().meta({ description: 'VAPID key (RFC 8292): a point of P-256 in base64url' }),
    }),
    example: { input: {}, output: { public_key: p256dh } },
  }),
  subscribe: post(['messages:read'], {
    summary:
      'Register a Web Push subscription of a browser. The same `endpoint` replaces the one before. It ends with the session or access token of this call, and when the push service says that it is gone.',
    input: z.strictObject({
      endpoint: z
        .string()
        .min(1)
        .max(2_048)
        .meta({ description: '`endpoint` of the `PushSubscription`: an https URL' }),
      p256dh: key(87, '=', '`getKey("p256dh")` of the `PushSubscription`, in base64url'),
      auth: key(22, '==', '`getKey("auth")` of the `PushSubscription`, in base64url'),
      with_text: z.boolean().default(true).meta({ description: 'whether notifications contain the text of messages' }),
    }),
    output: z.object({ subscription: pushSubscription }),
    errors: ['forbidden', 'conflict'],
    example: {
      input: { endpoint: laptop.endpoint, p256dh, auth: 'BTBZMqHH6r4Tts7J_aSIgg' },
      output: { subscription: laptop },
    },
  }),
  list: get(['messages:read'], {
    summary: 'List your push subscriptions.',
    input: z.strictObject({}),
    output: z.object({ subscriptions: z.array(pushSubscription) }),
    errors: ['forbidden'],
    example: { input: {}, output: { subscriptions: [laptop] } },
  }),
  unsubscribe: post(['messages:read'], {
    summary: 'Delete one of your push subscriptions.',
    input: z.strictObject({ subscription_id: subscriptionId }),
    output: z.object({ subscription: pushSubscription }),
    errors: ['not_found', 'forbidden'],
    example: { input: { subscription_id: 1 }, output: { subscription: laptop } },
  }),
});
