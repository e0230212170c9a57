import type { Clock } from '../clock.ts';

/**
 * A clock that no test has to wait for. Pauses end at once, or, after `hold`, when they are released. Timeouts expire only
 * when the test says so.
 */
export class TestClock implements Clock {
  /** Every pause that was begun, in milliseconds. */
  readonly pauses: number[] = [];
  readonly #timeouts = new Map<() => void, number>();
  #released: PromiseWithResolvers<void> | undefined;
  #time = 0;

  /** Milliseconds that the pauses and timeouts so far would have taken. */
  now(): number {
    return this.#time;
  }

  /** Pauses take until `release` from now on. */
  hold(): void {
    this.#released ??= Promise.withResolvers();
  }

  release(): void {
    this.#released?.resolve();
    this.#released = undefined;
  }

  /** Pauses that have not ended yet. */
  pausing = 0;

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.pauses.push(ms);
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    this.pausing++;
    try {
      await Promise.race([this.#released?.promise ?? new Promise(setImmediate), aborted.promise]);
      this.#time += ms;
    } finally {
      this.pausing--;
      signal?.removeEventListener('abort', abort);
    }
  }

  timeout(ms: number, expired: () => void): () => void {
    const entry = () => expired();
    this.#timeouts.set(entry, ms);
    return () => void this.#timeouts.delete(entry);
  }

  /** Every timeout that has begun and not ended, to tell one from another. */
  get timers(): unknown[] {
    return [...this.#timeouts.keys()];
  }

  /** How long each of them is. */
  get timeouts(): number[] {
    return [...this.#timeouts.values()];
  }

  /** Lets the timeouts expire that have begun; only those of this length where one is given. */
  expire(length?: number): void {
    for (const [expired, ms] of [...this.#timeouts]) {
      if (length !== undefined && ms !== length) continue;
      this.#timeouts.delete(expired);
      this.#time += ms;
      expired();
    }
  }
}
