import { ParleyError } from '@parley/contract';
import type { Lock, Locker, RequestRelease } from '@tus/server';

/** Finishing a large file may take a while; whoever has waited for so long comes back later. */
const longestWaitMs = 20_000;

interface Holder {
  readonly letGo: RequestRelease;
  readonly released: Promise<void>;
  readonly release: () => void;
}

/**
 * One request at a time for each upload. Whoever comes has the one before let go: a client that resumes must not wait for
 * the end of its own dead connection. In place of the library's, which looks again in every turn of the event loop, and
 * keeps a promise for each.
 */
export class UploadLocks implements Locker {
  readonly #holders = new Map<string, Holder>();

  newLock(id: string): Lock {
    return {
      lock: (_signal, letGo) => this.#take(id, letGo),
      unlock: async () => {
        const holder = this.#holders.get(id);
        this.#holders.delete(id);
        holder?.release();
      },
    };
  }

  /** Has every request that is under way keep what it has and answer. */
  letGo(): void {
    for (const holder of this.#holders.values()) void holder.letGo();
  }

  async #take(id: string, letGo: RequestRelease): Promise<void> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(stillBusy()), longestWaitMs);
    try {
      for (let holder = this.#holders.get(id); holder; holder = this.#holders.get(id)) {
        await holder.letGo();
        await Promise.race([holder.released, late.promise]);
      }
    } finally {
      clearTimeout(timer);
    }
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    this.#holders.set(id, { letGo, released, release });
  }
}

const stillBusy = () => new ParleyError('conflict', 'An earlier request is not done with this upload yet. Try again.');
