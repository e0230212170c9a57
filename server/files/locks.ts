import type { Lock, Locker, RequestRelease } from '@tus/server';
import { UploadBusy } from './busy.ts';
import type { Lease } from './lease.ts';
import type { UploadLeases } from './leases.ts';

interface Holder {
  readonly letGo: RequestRelease;
  readonly released: Promise<void>;
  readonly release: () => void;
}

/**
 * One request at a time for each upload. Whoever comes has the one before let go: a client that resumes must not wait for
 * the end of its own dead connection. Within this server a lock does it, in place of the library's, which looks again in
 * every turn of the event loop, and keeps a promise for each; against other servers a lease.
 */
export class UploadLocks implements Locker {
  readonly #leases: UploadLeases;
  readonly #holders = new Map<string, Holder>();
  /** Those of them that have their lease, and do not wait for one. */
  readonly #leased = new Map<string, RequestRelease>();

  constructor(leases: UploadLeases) {
    this.#leases = leases;
  }

  /** Keeps out this server's other requests alone. That is enough to make an upload: nobody knows of it before the answer. */
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

  /** Keeps out everybody. For one request, which is told of its lease. */
  leasing(took: (lease: Lease) => void): Locker {
    return { newLock: (id) => this.#newLease(id, took) };
  }

  /** Has every request that is under way keep what it has and answer. */
  letGo(): void {
    for (const holder of this.#holders.values()) void holder.letGo();
  }

  /** Has the request that writes to an upload do so, if there is one: another server asks for it. */
  asked(key: string): void {
    void this.#leased.get(key)?.();
  }

  #newLease(id: string, took: (lease: Lease) => void): Lock {
    const local = this.newLock(id);
    let lease: Lease | undefined;
    return {
      lock: async (signal, letGo) => {
        const deadline = performance.now() + this.#leases.longestWaitMs;
        await local.lock(signal, letGo);
        try {
          lease = await this.#leases.take(id, letGo, () => {
            if (signal.aborted || performance.now() >= deadline) throw stillBusy();
          });
          if (!lease) return;
          this.#leased.set(id, letGo);
          took(lease);
        } catch (error) {
          await local.unlock();
          throw error;
        }
      },
      unlock: async () => {
        this.#leased.delete(id);
        // What cannot be given back lapses.
        await lease?.release().catch(() => {});
        await local.unlock();
      },
    };
  }

  async #take(id: string, letGo: RequestRelease): Promise<void> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(stillBusy()), this.#leases.longestWaitMs);
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

const stillBusy = () => new UploadBusy('An earlier request is not done with this upload yet. Try again.');
