/** Less than this is a clock that is being put right, and no more than a little patience. */
export const slackMs = 1_000;

/** Notices that the clock of the machine was set back: what was to come soon by the old one is then far away. */
export class ClockWatch {
  readonly #now: () => number;
  readonly #monotonic: () => number;
  /** By how much it is ahead of the clock that is never set. */
  #lead: number;

  constructor(now: () => number, monotonic: () => number) {
    this.#now = now;
    this.#monotonic = monotonic;
    this.#lead = now() - monotonic();
  }

  /** Since this was asked last. */
  wentBack(): boolean {
    const before = this.#lead;
    this.#lead = this.#now() - this.#monotonic();
    return this.#lead < before - slackMs;
  }
}
