import type { TokenSource } from '@parley/sdk';

/** Gives requests their access token, and another one where the server does not take it. */
export class Bearer {
  readonly #source: TokenSource;
  #last: string | undefined;
  #refused: string | undefined;

  constructor(source: TokenSource) {
    this.#source = source;
  }

  async header(): Promise<string> {
    this.#last = typeof this.#source === 'string' ? this.#source : await this.#source(this.#refused);
    return `Bearer ${this.#last}`;
  }

  /** The server has refused the last one. Answers whether there may be another. */
  refuse(): boolean {
    if (typeof this.#source === 'string' || this.#last === this.#refused) return false;
    this.#refused = this.#last;
    return true;
  }
}
