import type { Engine, Tx } from '../store/engine/engine.ts';
import { freeAllUploads, takeUpload } from '../store/files/upload-leases.ts';
import { Lease } from './lease.ts';

/** The lease of a dead server blocks an upload for this long. */
const defaultLeaseMs = 30_000;

/** A request waits this long for another one to end. */
const defaultWaitMs = 20_000;

/** A waiting request tries again after this time. */
const pollMs = 200;

interface LeasesDeps {
  readonly engine: Engine;
  readonly monotonic: () => number;
  readonly leaseMs?: number | undefined;
  /** A third of `leaseMs` by default. */
  readonly renewMs?: number | undefined;
  readonly waitMs?: number | undefined;
  /** Whether this is the only server on the database. */
  readonly alone: boolean;
  /** Whether writes of a dead process may still reach the storage. */
  readonly hasLateWrites: boolean;
  /**
   * Calls `UploadLocks.interrupt` on the other servers. The message may get lost or come twice: a renewal also finds in the
   * database that the upload is wanted.
   */
  readonly interruptOthers: (key: string) => void;
}

/** Lets one server at a time write to an upload. */
export class UploadLeases {
  readonly #deps: LeasesDeps;

  constructor(deps: LeasesDeps) {
    this.#deps = deps;
  }

  /** Completing a large file may take a while. A client that has waited this long retries later. */
  get maxWaitMs(): number {
    return this.#deps.waitMs ?? defaultWaitMs;
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
}
