import { ParleyError } from '@parley/contract';
import { Semaphore, SemaphoreFull } from '../lib/semaphore.ts';

/** The cost of one hash. */
export interface PasswordCost {
  readonly memoryKib: number;
  readonly passes: number;
}

/** Tests replace the runtime's. */
export interface Hasher {
  hash(password: string, cost: Argon2): Promise<string>;
  verify(password: string, hash: string): Promise<boolean>;
}

interface Argon2 {
  readonly algorithm: 'argon2id';
  readonly memoryCost: number;
  readonly timeCost: number;
}

/** Each hash takes a core for a while, and memory. */
const concurrentHashes = 2;
/** A queue of this length takes a few seconds. Further callers are refused at once, rather than kept waiting by a flood. */
const maxWaiting = 100;

/** Hashes and checks passwords with argon2id. */
export class Passwords {
  readonly #cost: Argon2;
  readonly #hasher: Hasher;
  #decoy: Promise<string> | undefined;
  readonly #line = new Semaphore(concurrentHashes, maxWaiting);

  constructor({ memoryKib, passes }: PasswordCost, hasher: Hasher = Bun.password) {
    this.#cost = { algorithm: 'argon2id', memoryCost: memoryKib, timeCost: passes };
    this.#hasher = hasher;
  }

  hash(password: string): Promise<string> {
    return this.#inLine(() => this.#hasher.hash(password, this.#cost));
  }

  /** Returns false for a null hash, after the same time as for a wrong password. */
  async matches(password: string, hash: string | null): Promise<boolean> {
    this.#decoy ??= this.#hasher.hash('nobody', this.#cost);
    const compared = hash ?? (await this.#decoy);
    const matches = await this.#inLine(() => this.#hasher.verify(password, compared));
    return matches && hash !== null;
  }

  async #inLine<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#line.run(work);
    } catch (error) {
      if (!(error instanceof SemaphoreFull)) throw error;
      throw new ParleyError('unavailable', 'Too many people are signing in at the moment. Try again in a few seconds.');
    }
  }
}
