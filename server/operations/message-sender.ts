import type { UserId } from '@parley/contract';
import { Batcher } from '../lib/batcher.ts';
import { claimKeys } from '../store/access/idempotency.ts';
import type { NewMessage, SendInput, SendOutcome } from '../store/chat/send.ts';
import type { Procedure } from '../store/engine/engine.ts';
import type { Services } from './operation.ts';

/** Sends messages within the daily quota of their owners. Those that arrive together are committed together. */
export class MessageSender<M extends NewMessage, O extends SendOutcome | { readonly refused: string }> {
  readonly #services: Services;
  readonly #batches: Batcher<M, O>;

  /** `maxBatch` is the number of messages in one transaction. */
  constructor(services: Services, procedure: Procedure<SendInput<M>, O>, maxBatch: number) {
    const { engine, files, now } = services;
    this.#services = services;
    this.#batches = new Batcher<M, O>((messages) => engine.call(procedure, { messages, fileUrl: files.url('') }, now), {
      maxItems: maxBatch,
      concurrentBatches: engine.writers,
    });
  }

  /**
   * Rejects with `conflict` if the owner has sent as many messages today as allowed, unless the message was sent before. The
   * caller counts a message that was sent, and sends one again that is refused with `again`. It adds no promise of its own:
   * every message of the API comes through here.
   */
  send(ownerId: UserId, message: M): Promise<O> {
    try {
      this.#services.dailyMessages.require(ownerId);
    } catch (overQuota) {
      return this.#sendAgain(message, overQuota);
    }
    return this.#batches.submit(message);
  }

  /** A message that was sent before is returned again. */
  async #sendAgain(message: M, overQuota: unknown): Promise<O> {
    if (!(await this.#wasSent(message))) throw overQuota;
    return this.#batches.submit(message);
  }

  /** Returns true if the message has an Idempotency-Key that was used before. */
  async #wasSent({ key }: M): Promise<boolean> {
    return key !== null && (await this.#services.engine.write((tx) => claimKeys(tx, [key]))).size > 0;
  }
}
