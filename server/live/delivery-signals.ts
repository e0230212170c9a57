import type { OwnerSignal, UserId, WebhookId } from '@parley/contract';

/** Between two signals about the same webhook. */
const pauseMs = 200;

interface DeliverySignalsDeps {
  /** Returns whether a user has a stream, at any process. */
  readonly isHeard: (userId: UserId) => boolean;
  readonly send: (userId: UserId, signal: OwnerSignal) => void;
}

/**
 * Tells the streams of their owners that deliveries of webhooks have changed: the first change at once, and those of the
 * next moments together. Without a stream that hears it, a change costs a look at who is connected.
 */
export class DeliverySignals {
  readonly #deps: DeliverySignalsDeps;
  /** Webhooks with a signal a moment ago, and whether they changed since. */
  readonly #recent = new Map<WebhookId, { isChanged: boolean }>();

  constructor(deps: DeliverySignalsDeps) {
    this.#deps = deps;
  }

  changed(userId: UserId, webhookId: WebhookId): void {
    const recent = this.#recent.get(webhookId);
    if (recent) recent.isChanged = true;
    else if (this.#deps.isHeard(userId)) this.#send(userId, webhookId);
  }

  #send(userId: UserId, webhookId: WebhookId): void {
    this.#deps.send(userId, { event: 'deliveries_changed', data: { webhook_id: webhookId } });
    const state = { isChanged: false };
    this.#recent.set(webhookId, state);
    setTimeout(() => {
      this.#recent.delete(webhookId);
      if (state.isChanged) this.changed(userId, webhookId);
    }, pauseMs).unref();
  }
}
