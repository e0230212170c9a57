import { type Outcomes, SingleFlight } from './single-flight.ts';

export interface LoopOptions {
  /** Does a bounded piece of work. Returns true if there is more to do. */
  readonly step: () => Promise<boolean>;
  readonly outcomes: Outcomes;
  readonly monotonic: () => number;
  /** The loop wakes by itself this often: a wake-up may have been lost, and a failed step must be retried. */
  readonly sweepMs: number;
  /** How long after a wake-up the first step starts. By default it starts after the current turn of the event loop. */
  readonly delayMs?: number;
  /** The share of the time that consecutive steps may take. The rest is left to requests. By default all of it. */
  readonly timeShare?: number;
}

/** Runs steps while there is work, one at a time: when woken, and every `sweepMs`. A failure ends one run only. */
export class Loop {
  readonly #options: LoopOptions;
  readonly #runs: SingleFlight;
  readonly #sweep: ReturnType<typeof setInterval>;
  readonly #stopping = Promise.withResolvers<void>();
  #isScheduled = false;
  #isStopped = false;

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#runs = new SingleFlight(() => this.#run(), options.outcomes);
    this.#sweep = setInterval(() => this.wake(), options.sweepMs).unref();
  }

  /** Schedules a run. Wake-ups before it starts share it. */
  wake(): void {
    if (this.#isScheduled || this.#isStopped) return;
    this.#isScheduled = true;
    const start = () => {
      this.#isScheduled = false;
      void this.#runs.run();
    };
    const { delayMs } = this.#options;
    // The responses to the writers of the events go out before the first step.
    if (delayMs === undefined) setImmediate(start);
    else setTimeout(start, delayMs).unref();
  }

  async #run(): Promise<void> {
    const { step, monotonic, sweepMs, timeShare = 1 } = this.#options;
    while (!this.#isStopped) {
      const startedAt = monotonic();
      if (!(await step())) return;
      // Bounded, because a process that was suspended within a step would pause for hours.
      const pauseMs = Math.min((monotonic() - startedAt) * (1 / timeShare - 1), sweepMs);
      if (pauseMs > 0) await Promise.race([Bun.sleep(pauseMs), this.#stopping.promise]);
    }
  }

  /** Waits for the current step. Later wake-ups run nothing. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopping.resolve();
    clearInterval(this.#sweep);
    await this.#runs.stop();
  }
}
