/** The headers of a delivery that receivers use. */
export const webhookHeaders = {
  'X-Webhook-Id': 'The event id: the same on every attempt and in every replay.',
  'X-Webhook-Event': 'The event name, as in the body.',
  'X-Webhook-Attempt': 'The attempt number, starting at 1.',
  'X-Webhook-Registration': 'The `webhook_id`. Only a test of a URL without a webhook lacks it.',
  'X-Webhook-Signature': '`sha256=` and the hex HMAC-SHA256 of the body.',
  'webhook-id': 'The same as `X-Webhook-Id`.',
  'webhook-timestamp': 'The time of this attempt in Unix seconds.',
  'webhook-signature':
    '`v1,` and the base64 HMAC-SHA256 of `webhook-id`, `.`, `webhook-timestamp`, `.` and the body. Several signatures are separated by spaces.',
  'X-Webhook-Replay': 'The `replay_id`. Only deliveries of a replay have it.',
} as const;

export type WebhookHeader = keyof typeof webhookHeaders;
