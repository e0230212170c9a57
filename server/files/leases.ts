import type { Engine, Tx } from '../store/engine.ts';
import { freeAllUploads, takeUpload } from '../store/upload-leases.ts';
import { Lease } from './lease.ts';

/** How long a server that has died keeps others off an upload. */
const usualLeaseMs = 30_000;

/** How long a request waits for another that has to finish. */
const usualWaitMs = 20_000;

/** How often it is looked whether somebody has let go. */
const lookEveryMs = 200;

interface LeasesParts {
  readonly engine: Engine;
  /** Milliseconds on a clock that nobody sets. */
  readonly monotonic: () => number;
  /** How long a lease lasts that is not renewed, where that is not to be the usual time. */
  readonly leaseMs?: number | undefined;
  /** How often one is renewed, where that is not to be the usual third of it. */
  readonly renewMs?: number | undefined;
  /** How long to wait for one, where that is not to be the usual time. */
  readonly waitMs?: number | undefined;
  /** Nobody else can have leases on this database. */
  readonly alone: boolean;
  /** What a process has sent to the storage may arrive there after its end. */
  readonly arrivesLate: boolean;
  /**
   * Asks the other servers to let go of an upload, which is to reach their `UploadLocks.asked`. It may get lost, and may come
   * more than once: whoever renews a lease finds in the database that the upload is wanted.
   */
  readonly askOthers: (key: string) => void;
}

/** Keeps the servers on one database from writing the same upload at once. */
export class UploadLeases {
  readonly #parts: LeasesParts;

  constructor(parts: LeasesParts) {
    this.#parts = parts;
  }

  /** Whoever has waited for so long comes back later: finishing a large file may take a while. */
  get longestWaitMs(): number {
    return this.#parts.waitMs ?? usualWaitMs;
  }

  /** What a process has left behind that was alone as well. */
  async start(): Promise<void> {
    const { engine, alone, arrivesLate } = this.#parts;
    if (alone) await freeAllUploads(engine, arrivesLate);
  }

  /**
   * Waits until nobody else writes to an upload, for as long as `mayWait` does not throw, and takes it. Answers undefined where
   * there is no such upload.
   */
  async take(key: string, letGo: () => void, mayWait: () => void): Promise<Lease | undefined> {
    const { engine, monotonic, leaseMs = usualLeaseMs, renewMs = leaseMs / 3, alone, askOthers } = this.#parts;
    const work = (tx: Tx) => takeUpload(tx, key, leaseMs);
    for (; ; await Bun.sleep(lookEveryMs)) {
      const askedAt = monotonic();
      // That it is taken must be on disk: were it forgotten, another would take it without a doubt. Alone, there is none.
      const row = alone ? await engine.writeRelaxed(work) : await engine.write(work);
      if (row === 'gone') return undefined;
      if (row !== 'held') return new Lease({ engine, row, leaseMs, renewMs, monotonic, askedAt, letGo });
      askOthers(key);
      mayWait();
    }
  }
}
