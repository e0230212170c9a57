import { LRUCache } from 'lru-cache';
import type { SealedBox } from '../lib/sealed-box.ts';

/** The most that a message may take, and that the clocks of two servers may differ. */
export const maxAgeMs = 60_000;

/** More senders than send within `maxAgeMs`. A server has one number for each topic. */
const maxSenders = 1_000;

export interface EnvelopeDeps {
  readonly box: SealedBox;
  readonly random: (bytes: number) => Uint8Array;
  readonly now: () => number;
}

/**
 * Seals messages with their sender, number and time. NATS keeps the order of a sender's messages on a subject, so a message
 * whose number is not above the last one is a replay. One that comes late after a reconnection is refused too: any message
 * may be lost.
 */
export class Envelopes {
  readonly #deps: EnvelopeDeps;
  readonly #sender: string;
  readonly #last = new LRUCache<string, number>({ max: maxSenders });
  #number = 0;

  constructor(deps: EnvelopeDeps) {
    this.#deps = deps;
    this.#sender = Buffer.from(deps.random(12)).toString('base64url');
  }

  seal(text: string, subject: string): Buffer {
    return this.#deps.box.seal(`${this.#sender} ${++this.#number} ${this.#deps.now()} ${text}`, subject);
  }

  /** Throws for a message that was changed, is not for this subject, is too old, or came before. */
  open(sealed: Uint8Array, subject: string): string {
    const opened = this.#deps.box.open(sealed, subject);
    const [head = '', sender = '', number, at] = /^(\S+) (\d+) (\d+) /.exec(opened) ?? [];
    if (head === '') throw new Error('it is of another version');
    const age = this.#deps.now() - Number(at);
    if (Math.abs(age) > maxAgeMs)
      throw new Error(`it is ${age} ms old: the clocks of the servers differ, or it is a replay`);
    const key = `${subject} ${sender}`;
    if (sender === this.#sender || Number(number) <= (this.#last.get(key) ?? 0)) throw new Error('it is a replay');
    this.#last.set(key, Number(number));
    return opened.slice(head.length);
  }
}
