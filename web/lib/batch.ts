import { typingPause } from './typing-pause.ts';

/** Collects keys, and passes them on together a moment later. */
export class Batch<K> {
  readonly #run: (keys: readonly K[]) => void;
  readonly #delayMs: number;
  #keys = new Set<K>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(delayMs: number, run: (keys: readonly K[]) => void) {
    this.#delayMs = delayMs;
    this.#run = run;
  }

  add(key: K): void {
    this.#keys.add(key);
    this.#timer ??= setTimeout(async () => {
      await typingPause();
      this.flush();
    }, this.#delayMs);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const keys = [...this.#keys];
    this.#keys = new Set();
    if (keys.length > 0) this.#run(keys);
  }
}
