/**
 * Bytes per second that an upload must reach on average. A bad mobile line carries several times as much. One byte in 15 s,
 * which keeps a connection open, is far below.
 */
export const minUploadRate = 1_024;

/** The longest pause. The runtime closes a connection after the same time without bytes. */
export const maxPauseMs = 60_000;

/**
 * Ends uploads that are too slow, because each holds one of few slots. A client starts with a minute. Waiting for its bytes
 * uses the time up. Each KiB adds a second, up to a minute again. The time in which we store bytes does not count.
 */
export class UploadRate {
  readonly #monotonic: () => number;
  readonly #tooSlow: () => Error;
  #leftMs = maxPauseMs;
  #waitingSince: number;

  constructor(monotonic: () => number, tooSlow: () => Error) {
    this.#monotonic = monotonic;
    this.#tooSlow = tooSlow;
    this.#waitingSince = monotonic();
  }

  /** Must be called when the next bytes are requested. */
  wait(): void {
    this.#waitingSince = this.#monotonic();
  }

  /** Counts the bytes that were waited for. Throws if the time is used up. */
  arrived(bytes: number): void {
    const waitedMs = this.#monotonic() - this.#waitingSince;
    this.#leftMs = Math.min(maxPauseMs, this.#leftMs - waitedMs + (bytes / minUploadRate) * 1_000);
    if (this.#leftMs < 0) throw this.#tooSlow();
  }
}
