import { FailureLog } from '../observe/failure-log.ts';
import type { Log } from '../observe/log.ts';

export interface FollowerOptions {
  readonly name: string;
  /** Does a bounded piece of work and answers whether there is more. */
  readonly step: () => Promise<boolean>;
  /** How long to gather events after a wake-up before looking. */
  readonly gatherMs: number;
  /** How often to look without a wake-up: it may have been lost, or another process may have written. */
  readonly sweepMs: number;
  /** The share of the time that steps in a row may take; in the rest requests are served. */
  readonly share: number;
  readonly log: Log;
}

/** Runs a step whenever there may be work, one at a time. A failure is logged, and the next sweep tries again. */
export class Follower {
  readonly #options: FollowerOptions;
  readonly #sweep: ReturnType<typeof setInterval>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #wokenMeanwhile = false;
  readonly #trouble: FailureLog;
  readonly #stop = Promise.withResolvers<void>();
  #stopped = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#trouble = new FailureLog(options.log, 'follower failed', { follower: options.name });
    this.#sweep = setInterval(() => this.wake(), options.sweepMs);
    this.#sweep.unref();
  }

  /** Looks soon. */
  wake(): void {
    if (this.#running) this.#wokenMeanwhile = true;
    if (this.#stopped || this.#timer || this.#running) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#running = this.#run().finally(() => {
        this.#running = undefined;
        if (this.#wokenMeanwhile) this.wake();
        this.#wokenMeanwhile = false;
      });
    }, this.#options.gatherMs);
  }

  async #run(): Promise<void> {
    const { step, share } = this.#options;
    try {
      for (let more = true; more && !this.#stopped; ) {
        const started = performance.now();
        more = await step();
        this.#trouble.succeeded();
        if (more) await Promise.race([Bun.sleep((performance.now() - started) * (1 / share - 1)), this.#stop.promise]);
      }
    } catch (cause) {
      this.#trouble.failed(cause);
    }
  }

  /** Waits for the step that is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stop.resolve();
    clearInterval(this.#sweep);
    clearTimeout(this.#timer);
    await this.#running;
  }
}
