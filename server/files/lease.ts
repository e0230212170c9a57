import { ParleyError } from '@parley/contract';
import { LeaseTerm } from '../lib/lease.ts';
import type { Engine } from '../store/engine/engine.ts';
import { freeUpload, type LeaseRow, renewUpload } from '../store/files/upload-leases.ts';

/**
 * Another request or server uses the upload, or this request must make room. It has the status 423, because tus clients retry and resume after that one.
 * Some start again from the beginning after any other conflict.
 */
export class UploadBusy extends ParleyError {
  constructor(message: string) {
    super('conflict', message);
  }
}

interface LeaseDeps {
  readonly engine: Engine;
  readonly row: LeaseRow;
  readonly leaseMs: number;
  readonly renewMs: number;
  readonly monotonic: () => number;
  /** When the lease was requested, on the monotonic clock. */
  readonly requestedAt: number;
  /** Called when another request waits for the upload. */
  readonly interrupt: () => void;
}

/**
 * One request's lease on an upload, against all other servers. It is renewed while the request runs. If it cannot be renewed,
 * the request gives it up after two thirds of its time, so it stops writing before another server can start.
 */
export class Lease {
  readonly #deps: LeaseDeps;
  readonly #renewing: ReturnType<typeof setInterval>;
  readonly #term: LeaseTerm;
  #expiring: ReturnType<typeof setTimeout> | undefined;
  #isLost = false;
  #released: Promise<boolean> | undefined;
  #lost: ((error: Error) => void) | undefined;

  constructor(deps: LeaseDeps) {
    this.#deps = deps;
    this.#term = new LeaseTerm((deps.leaseMs * 2) / 3, deps.monotonic, deps.requestedAt);
    this.#hold(deps.requestedAt);
    this.#renewing = setInterval(() => void this.#renew(), deps.renewMs);
  }

  get number(): number {
    return this.#deps.row.lease_number;
  }

  /** True if an earlier lease expired. Its holder may still write. */
  get isDoubtful(): boolean {
    return this.#deps.row.is_doubtful;
  }

  /** Checks the clock too: after a pause of the process it is ahead of the timers. */
  get isLost(): boolean {
    return this.#isLost || this.#term.isOver;
  }

  /** Throws if the lease is lost. Must be called before each write. */
  check(): void {
    if (this.isLost) throw lostLease();
  }

  /** Calls `listener` once if the lease is lost. */
  whenLost(listener: (error: Error) => void): void {
    if (this.#isLost) listener(lostLease());
    else this.#lost = listener;
  }

  /** Ends the lease after the last write. Returns whether it was valid all the time. */
  release(): Promise<boolean> {
    const { engine, row } = this.#deps;
    return this.#end(() => engine.writeRelaxed((tx) => freeUpload(tx, row.file_id, row.lease_number)));
  }

  /** The transaction that completed the file has ended the lease. */
  fulfil(): void {
    void this.#end(async () => true);
  }

  #end(give: () => Promise<boolean>): Promise<boolean> {
    clearInterval(this.#renewing);
    clearTimeout(this.#expiring);
    this.#released ??= give();
    return this.#released;
  }

  async #renew(): Promise<void> {
    const { engine, row, leaseMs, monotonic, interrupt } = this.#deps;
    const requestedAt = monotonic();
    try {
      const held = await engine.writeRelaxed((tx) => renewUpload(tx, row.file_id, row.lease_number, leaseMs));
      if (this.#released) return;
      if (!held) this.#lose();
      else this.#hold(requestedAt);
      if (held?.is_wanted) interrupt();
    } catch {
      // The next renewal may reach the database again. Otherwise the lease expires.
    }
  }

  #hold(requestedAt: number): void {
    if (this.#isLost) return;
    this.#term.extend(requestedAt);
    clearTimeout(this.#expiring);
    this.#expiring = setTimeout(() => this.#lose(), this.#term.remainingMs);
  }

  #lose(): void {
    if (this.#isLost || this.#released) return;
    this.#isLost = true;
    clearInterval(this.#renewing);
    this.#lost?.(lostLease());
  }
}

export const lostLease = () =>
  new UploadBusy('This server lost the upload. Get the Upload-Offset with HEAD, and resume there.');
