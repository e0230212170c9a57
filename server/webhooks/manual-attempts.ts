import { ParleyError } from '@parley/contract';
import type { AttemptMade, Sending } from '../domain/attempt.ts';
import type { WebhookRow } from '../store/webhooks/webhooks.ts';
import { isSuccess, resultFields } from './health.ts';
import type { Sender } from './sender.ts';

/** Concurrent attempts: in all, and for one user. */
const maxInAll = 16;
const maxPerUser = 4;

/** Attempts that a user asks for outside the queues: tests, and settled deliveries that are sent once more. */
export class ManualAttempts {
  readonly #sender: Sender;
  /** Attempts in flight by user. */
  readonly #inFlight = new Map<number, number>();

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Rejects with `unavailable` if too many attempts are in flight. */
  async make(webhook: WebhookRow, sending: Sending): Promise<AttemptMade> {
    const inAll = [...this.#inFlight.values()].reduce((sum, count) => sum + count, 0);
    if ((this.#inFlight.get(webhook.user_id) ?? 0) >= maxPerUser || inAll >= maxInAll) {
      throw new ParleyError('unavailable', 'Too many deliveries are being tried at the moment.');
    }
    this.#count(webhook.user_id, 1);
    try {
      const outcome = await this.#sender.send(webhook, sending);
      return { delivered: isSuccess(outcome), ...resultFields(outcome) };
    } finally {
      this.#count(webhook.user_id, -1);
    }
  }

  #count(userId: number, change: 1 | -1): void {
    const count = (this.#inFlight.get(userId) ?? 0) + change;
    if (count > 0) this.#inFlight.set(userId, count);
    else this.#inFlight.delete(userId);
  }
}
