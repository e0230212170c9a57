import { withTimeout } from '../lib/timeout.ts';
import type { Engine, Tx } from '../store/engine/engine.ts';
import { freeAllUploads, takeUpload } from '../store/files/upload-leases.ts';
import { Lease, UploadBusy } from './lease.ts';

/** The lease of a dead server blocks an upload for this long. */
const defaultLeaseMs = 30_000;

/** A request waits this long for another one to end: completing a large file may take a while. */
const defaultWaitMs = 20_000;

/** A waiting request tries again after this time. */
const pollMs = 200;

/** An interrupted request may take this long to end by itself. */
const drainMs = 100;

/** The exclusive use of an upload. */
export interface UploadHold {
  /** Undefined for an upload that does not exist, and for a new one. */
  readonly lease: Lease | undefined;
  /** Aborted when the request must stop, because another one wants the upload or the server stops. */
  readonly signal: AbortSignal;
}

interface Holder {
  readonly controller: AbortController;
  readonly released: Promise<void>;
  hasLease: boolean;
}

const interrupt = ({ controller }: Holder): void => void setTimeout(() => controller.abort(), drainMs);

interface UploadLocksDeps {
  readonly engine: Engine;
  readonly monotonic: () => number;
  readonly leaseMs?: number | undefined;
  /** A third of `leaseMs` by default. */
  readonly renewMs?: number | undefined;
  readonly waitMs?: number | undefined;
  /** True if this is the only server on the database. */
  readonly alone: boolean;
  /** True if writes of a dead process may still reach the storage. */
  readonly hasLateWrites: boolean;
  /**
   * Calls `UploadLocks.interrupt` on the other servers. The message may get lost or come twice: a renewal also finds in the
   * database that the upload is wanted.
   */
  readonly interruptOthers: (key: string) => void;
}

/**
 * Lets one request at a time use an upload: within this server by a lock, against other servers by a lease. A new request
 * interrupts the one before, because a client that resumes must not wait for its own dead connection.
 */
export class UploadLocks {
  readonly #deps: UploadLocksDeps;
  readonly #holders = new Map<string, Holder>();

  constructor(deps: UploadLocksDeps) {
    this.#deps = deps;
  }

  /** Ends the leases that an earlier process left behind, if no other server can have any. */
  async start(): Promise<void> {
    const { engine, alone, hasLateWrites } = this.#deps;
    if (alone) await freeAllUploads(engine, hasLateWrites);
  }

  /** Waits until the upload is free or `mayWait` throws. Returns undefined if there is no such upload. */
  async take(key: string, interrupt: () => void, mayWait: () => void): Promise<Lease | undefined> {
    const { engine, monotonic, leaseMs = defaultLeaseMs, renewMs = leaseMs / 3, alone, interruptOthers } = this.#deps;
    const work = (tx: Tx) => takeUpload(tx, key, leaseMs);
    for (; ; await Bun.sleep(pollMs)) {
      const requestedAt = monotonic();
      // The lease must be durable: after a crash another server could not see that it had existed. Alone there is none.
      const row = alone ? await engine.writeRelaxed(work) : await engine.write(work);
      if (row === 'gone') return undefined;
      if (row !== 'held') return new Lease({ engine, row, leaseMs, renewMs, monotonic, requestedAt, interrupt });
      interruptOthers(key);
      mayWait();
    }
  }

  /** Runs `work` under the lock and a lease. Throws `UploadBusy` if the upload is not released in time. */
  hold<T>(key: string, work: (hold: UploadHold) => Promise<T>): Promise<T> {
    const { monotonic, waitMs = defaultWaitMs } = this.#deps;
    const deadline = monotonic() + waitMs;
    return this.#lock(key, deadline, async (holder) => {
      const { signal } = holder.controller;
      const stop = () => interrupt(holder);
      const lease = await this.take(key, stop, () => {
        if (signal.aborted || monotonic() >= deadline) throw stillBusy();
      });
      holder.hasLease = lease !== undefined;
      try {
        return await work({ lease, signal });
      } finally {
        holder.hasLease = false;
        // A lease that cannot be released expires.
        await lease?.release().catch(() => {});
      }
    });
  }

  /** Runs `work` under the lock alone. No other server knows a new upload yet. */
  holdNew<T>(key: string, work: (hold: UploadHold) => Promise<T>): Promise<T> {
    return this.#lock(key, this.#deps.monotonic(), ({ controller }) =>
      work({ lease: undefined, signal: controller.signal }),
    );
  }

  /** Interrupts the request that has a lease on the upload: another server wants it. */
  interrupt(key: string): void {
    const holder = this.#holders.get(key);
    if (holder?.hasLease) interrupt(holder);
  }

  /** Interrupts all requests. They keep the bytes they have, and their clients resume elsewhere or later. */
  interruptAll(): void {
    for (const holder of this.#holders.values()) interrupt(holder);
  }

  async #lock<T>(key: string, deadline: number, work: (holder: Holder) => Promise<T>): Promise<T> {
    for (let before = this.#holders.get(key); before; before = this.#holders.get(key)) {
      interrupt(before);
      await withTimeout(Math.max(0, deadline - this.#deps.monotonic()), before.released, stillBusy);
    }
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const holder: Holder = { controller: new AbortController(), released, hasLease: false };
    this.#holders.set(key, holder);
    try {
      return await work(holder);
    } finally {
      this.#holders.delete(key);
      release();
    }
  }
}

const stillBusy = () => new UploadBusy('An earlier request still uses this upload. Try again.');
