/**
 * Lets out messages at the pace of the server's lives. A half of a life's share runs evenly; the rest comes in a gush shortly
 * before the end, so that the kill meets a server that is busy. What is not sent by then is left to the next life.
 */
export class Tap {
  #before = 0;
  #share = 0;
  #since = 0;
  #ms = 0;
  #gushAt = 0;

  /** The share of a life that lasts from now for so many milliseconds. */
  open(share: number, ms: number, gushBeforeEndMs: number): void {
    this.#before += this.#share;
    this.#share = share;
    this.#since = performance.now();
    this.#ms = ms;
    this.#gushAt = Math.max(0, ms - gushBeforeEndMs);
  }

  /** How many may have been sent by now. */
  get allowed(): number {
    const lived = performance.now() - this.#since;
    if (lived >= this.#gushAt) return this.#before + this.#share;
    return this.#before + Math.floor((this.#share / 2) * (lived / this.#ms));
  }
}
