import type { PrivatePostgres } from '../../server/test/support/postgres.ts';
import { pause } from '../harness/wait.ts';

/** The PostgreSQL of the servers, and when it was away. */
export class Database {
  readonly #postgres: PrivatePostgres;
  #isAway = false;
  #lastAway = Number.NEGATIVE_INFINITY;

  constructor(postgres: PrivatePostgres) {
    this.#postgres = postgres;
  }

  /** Now, if it is away at present. */
  get lastAway(): number {
    return this.#isAway ? performance.now() : this.#lastAway;
  }

  /** `fast` is in order; `immediate` is a crash. */
  async restart(mode: 'fast' | 'immediate', awayMs: number, end: AbortSignal): Promise<void> {
    this.#isAway = true;
    await this.#postgres.stop(mode);
    await pause(awayMs, end);
    await this.#postgres.start();
    this.#lastAway = performance.now();
    this.#isAway = false;
  }
}
