import { ParleyError, type UserId } from '@parley/contract';
import type { AttemptMade, Sending } from '../domain/attempt.ts';
import type { WebhookRow } from '../store/webhooks/webhooks.ts';
import { isSuccess, resultFields } from './health.ts';
import type { Sender } from './sender.ts';

/** Concurrent attempts: in all, and for one owner. */
const maxInAll = 16;
const maxPerOwner = 4;

/**
 * Returns a function that makes an attempt outside of the queues, for tests and for settled deliveries that are sent once
 * more. It rejects with `unavailable` if too many attempts are in flight.
 */
export function manualAttempts(sender: Sender) {
  /** The owners of the attempts in flight. */
  const owners: number[] = [];
  return async (ownerId: UserId, webhook: WebhookRow, sending: Sending): Promise<AttemptMade> => {
    if (owners.length >= maxInAll || owners.filter((id) => id === ownerId).length >= maxPerOwner) {
      throw new ParleyError('unavailable', 'Too many deliveries are being tried at the moment.');
    }
    owners.push(ownerId);
    try {
      const outcome = await sender.send(webhook, sending);
      return { delivered: isSuccess(outcome), ...resultFields(outcome) };
    } finally {
      owners.splice(owners.indexOf(ownerId), 1);
    }
  };
}
