/** Less than this is a clock that is being put right, and no more than a little patience. */
export const slackMs = 1_000;

/** Notices that the clock of the machine was set back: what was to come soon by the old one is then far away. */
export class ClockWatch {
  readonly #now: () => number;
  readonly #steady: () => number;
  /** By how much it is ahead of the clock that is never set. */
  #lead: number;

  constructor(now: () => number, steady: () => number) {
    this.#now = now;
    this.#steady = steady;
    this.#lead = now() - steady();
  }

  /** Since this was asked last. */
  wentBack(): boolean {
    const before = this.#lead;
    this.#lead = this.#now() - this.#steady();
    return this.#lead < before - slackMs;
  }
}
