import { ParleyError } from '@parley/contract';
import type { AttemptMade, Sending } from '../domain/attempt.ts';
import type { WebhookRow } from '../store/webhooks/webhooks.ts';
import { isSuccess, resultFields } from './health.ts';
import type { Sender } from './sender.ts';

/** Concurrent attempts: in all, and for one user. */
const maxInAll = 16;
const maxPerUser = 4;

/**
 * Returns a function that makes an attempt outside of the queues, for tests and for settled deliveries that are sent once
 * more. It rejects with `unavailable` if too many attempts are in flight.
 */
export function manualAttempts(sender: Sender) {
  /** The users of the attempts in flight. */
  const users: number[] = [];
  return async (webhook: WebhookRow, sending: Sending): Promise<AttemptMade> => {
    const { user_id } = webhook;
    if (users.length >= maxInAll || users.filter((id) => id === user_id).length >= maxPerUser) {
      throw new ParleyError('unavailable', 'Too many deliveries are being tried at the moment.');
    }
    users.push(user_id);
    try {
      const outcome = await sender.send(webhook, sending);
      return { delivered: isSuccess(outcome), ...resultFields(outcome) };
    } finally {
      users.splice(users.indexOf(user_id), 1);
    }
  };
}
