import type { Sending } from '../domain/attempt.ts';
import type { WebhookRow } from '../store/webhooks.ts';
import { type ClientOptions, type Outcome, postTo } from './client.ts';
import { Deadlines } from './deadlines.ts';
import type { Guard } from './guard.ts';
import { deliveryHeaders } from './headers.ts';
import type { SecretBox } from './secret-box.ts';

/** The limits of one attempt. */
const limits = { timeoutMs: 15_000, mostRead: 65_536, mostKept: 4_096 } as const;

/** Opened secrets, and read URLs, that are remembered: opening a secret takes as long as signing with it. */
const mostKept = 10_000;

export interface SenderParts {
  readonly guard: Guard;
  readonly box: SecretBox;
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly version: string;
}

/** Makes one attempt at an endpoint: signed when it is sent, to an address that was judged a moment ago. */
export class Sender {
  readonly #parts: SenderParts;
  readonly #options: ClientOptions;
  readonly #opened = new Map<string, string>();
  readonly #urls = new Map<string, URL>();

  constructor(parts: SenderParts) {
    this.#parts = parts;
    this.#options = {
      ...limits,
      deadlines: new Deadlines(parts.monotonic),
      now: parts.now,
      monotonic: parts.monotonic,
    };
  }

  /** Calls off what is under way, and what is begun later. */
  close(): void {
    this.#options.deadlines.close();
  }

  send(webhook: WebhookRow, sending: Sending): Promise<Outcome> {
    const { id, event, body, attempt, replayId, at } = sending;
    const headers = deliveryHeaders({
      id,
      event,
      body,
      attempt,
      at,
      webhookId: webhook.webhook_id,
      replayId: replayId === 0 ? undefined : replayId,
      secrets: this.#secrets(webhook, at),
      version: this.#parts.version,
    });
    return postTo(this.#parts.guard, this.#options, { url: this.#url(webhook), headers, body });
  }

  #url({ url }: WebhookRow): URL {
    const known = this.#urls.get(url);
    if (known) return known;
    if (this.#urls.size >= mostKept) this.#urls.clear();
    const read = new URL(url);
    this.#urls.set(url, read);
    return read;
  }

  #secrets({ secret, previous_secret, previous_until }: WebhookRow, at: number): [string, ...string[]] {
    const current = this.#open(secret);
    const isHonoured = previous_secret !== null && previous_until !== null && at < previous_until;
    return isHonoured ? [current, this.#open(previous_secret)] : [current];
  }

  #open(sealed: string): string {
    const known = this.#opened.get(sealed);
    if (known !== undefined) return known;
    if (this.#opened.size >= mostKept) this.#opened.clear();
    const opened = this.#parts.box.open(sealed);
    this.#opened.set(sealed, opened);
    return opened;
  }
}
