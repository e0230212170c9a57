import { ParleyError } from '@parley/contract';
import type { AttemptMade, Sending } from '../domain/attempt.ts';
import type { WebhookRow } from '../store/webhooks.ts';
import { errorOf, isSuccess } from './health.ts';
import type { Sender } from './sender.ts';

/** How many are made at once: in all, and for one user. */
const most = 16;
const mostOfOne = 4;

/** Attempts that somebody asks for outside of the lanes: tests, and deliveries that are sent once more. */
export class ByHand {
  readonly #sender: Sender;
  /** Those under way, by user. */
  readonly #running = new Map<number, number>();

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  async attempt(webhook: WebhookRow, sending: Sending): Promise<AttemptMade> {
    const all = [...this.#running.values()].reduce((sum, count) => sum + count, 0);
    if ((this.#running.get(webhook.user_id) ?? 0) >= mostOfOne || all >= most) {
      throw new ParleyError('unavailable', 'Too many deliveries are being tried at the moment.');
    }
    this.#count(webhook.user_id, 1);
    try {
      const outcome = await this.#sender.send(webhook, sending);
      const answered = outcome.kind === 'answered';
      return {
        delivered: isSuccess(outcome),
        status: answered ? outcome.status : null,
        error: errorOf(outcome),
        duration_ms: Math.round(outcome.ms),
        answer: answered ? outcome.answer : null,
      };
    } finally {
      this.#count(webhook.user_id, -1);
    }
  }

  #count(userId: number, change: 1 | -1): void {
    const count = (this.#running.get(userId) ?? 0) + change;
    if (count > 0) this.#running.set(userId, count);
    else this.#running.delete(userId);
  }
}
