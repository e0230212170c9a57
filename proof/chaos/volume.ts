import { pause } from '../harness/wait.ts';
import type { Traffic } from './traffic.ts';

/** Concurrent sends. */
const senders = 32;

/**
 * Many short messages, at the pace of the server's lives. Half of a life's share is sent evenly; the rest comes in a burst
 * before its end, so that the kill hits a busy server. What was not sent by then is left to the next life.
 */
export class Volume {
  acknowledged = 0;
  readonly #traffic: Traffic;
  readonly #count: number;
  #begun = 0;
  #before = 0;
  #share = 0;
  #since = 0;
  #ms = 0;
  #burstAt = 0;

  constructor(traffic: Traffic, count: number) {
    this.#traffic = traffic;
    this.#count = count;
  }

  get isDone(): boolean {
    return this.acknowledged === this.#count;
  }

  /** Allows a further share over the next `ms`, and the whole of all earlier ones. */
  allow(share: number, ms = 0, burstBeforeEndMs = 0): void {
    this.#before += this.#share;
    this.#share = share;
    this.#since = performance.now();
    this.#ms = ms;
    this.#burstAt = Math.max(0, ms - burstBeforeEndMs);
  }

  async run(end: AbortSignal): Promise<void> {
    const sendAll = async () => {
      while (this.#begun < this.#count && !end.aborted) {
        if (this.#begun >= this.#allowed) await pause(5, end);
        else {
          await this.#traffic.sendExtra(`volume ${this.#begun++}`, end);
          this.acknowledged++;
        }
      }
    };
    await Promise.all(Array.from({ length: senders }, sendAll));
  }

  get #allowed(): number {
    const passed = performance.now() - this.#since;
    if (passed >= this.#burstAt) return this.#before + this.#share;
    return this.#before + Math.floor((this.#share / 2) * (passed / this.#ms));
  }
}
