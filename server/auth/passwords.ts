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

/** The checks of an account wait for each other first, so that one person cannot fill the queue of all. */
const maxWaitingOfAccount = 20;

/** Hashes and checks passwords with argon2id. */
export class Passwords {
  readonly #cost: Argon2;
  readonly #hasher: Hasher;
  #decoy: Promise<string> | undefined;
  readonly #line = new Semaphore(concurrentHashes, maxWaiting);
  readonly #lines = new Map<string, { readonly line: Semaphore; checks: number }>();

  constructor({ memoryKib, passes }: PasswordCost, hasher: Hasher = Bun.password) {
    this.#cost = { algorithm: 'argon2id', memoryCost: memoryKib, timeCost: passes };
    this.#hasher = hasher;
  }

  hash(password: string): Promise<string> {
    return this.#line
      .run(() => this.#hasher.hash(password, this.#cost))
      .catch((error: unknown) => {
        throw asUnavailable(error);
      });
  }

  /** Returns false for a null hash, after the same time as for a wrong password. */
  async matches(password: string, hash: string | null, account: string): Promise<boolean> {
    this.#decoy ??= this.#hasher.hash('nobody', this.#cost);
    const compared = hash ?? (await this.#decoy);
    const own = this.#lines.get(account) ?? { line: new Semaphore(1, maxWaitingOfAccount), checks: 0 };
    this.#lines.set(account, own);
    own.checks++;
    try {
      const matches = await own.line.run(() => this.#line.run(() => this.#hasher.verify(password, compared)));
      return matches && hash !== null;
    } catch (error) {
      throw asUnavailable(error);
    } finally {
      if (--own.checks === 0) this.#lines.delete(account);
    }
  }
}

function asUnavailable(error: unknown): unknown {
  if (!(error instanceof SemaphoreFull)) return error;
  return new ParleyError('unavailable', 'Too many people are signing in at the moment. Try again in a few seconds.');
}
