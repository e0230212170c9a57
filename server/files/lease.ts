import type { Engine } from '../store/engine.ts';
import { freeUpload, type LeaseRow, renewUpload } from '../store/upload-leases.ts';
import { UploadBusy } from './busy.ts';

interface LeaseParts {
  readonly engine: Engine;
  readonly row: LeaseRow;
  readonly leaseMs: number;
  readonly renewMs: number;
  /** Milliseconds on a clock that nobody sets. */
  readonly monotonic: () => number;
  /** When it was asked for, on that clock. */
  readonly askedAt: number;
  /** Somebody else waits for the upload: what is under way is to come to its end. */
  readonly letGo: () => void;
}

/**
 * One request's hold on an upload, against all other servers. It is renewed for as long as the request takes, and given up well
 * before it lapses in the database: so nobody else writes yet when whoever lost it stops.
 */
export class Lease {
  readonly #parts: LeaseParts;
  readonly #renewing: ReturnType<typeof setInterval>;
  #heldUntil = 0;
  #ending: ReturnType<typeof setTimeout> | undefined;
  #isLost = false;
  #released: Promise<boolean> | undefined;
  #lost: ((error: Error) => void) | undefined;

  constructor(parts: LeaseParts) {
    this.#parts = parts;
    this.#hold(parts.askedAt);
    this.#renewing = setInterval(() => void this.#renew(), parts.renewMs);
  }

  get number(): number {
    return this.#parts.row.lease_number;
  }

  /** Whoever held the upload before let its lease lapse, and may still write. */
  get isDoubtful(): boolean {
    return this.#parts.row.is_doubtful;
  }

  /** After a pause of the whole process the clock knows it before the timers do. */
  get isLost(): boolean {
    return this.#isLost || this.#parts.monotonic() >= this.#heldUntil;
  }

  /** To be asked before anything is written. */
  check(): void {
    if (this.isLost) throw lostHold();
  }

  /** Tells once if it is lost, also while nothing comes that could be written. */
  whenLost(tell: (error: Error) => void): void {
    if (this.#isLost) tell(lostHold());
    else this.#lost = tell;
  }

  /** Nothing more is written. Answers whether it was held all the time. */
  release(): Promise<boolean> {
    const { engine, row } = this.#parts;
    return this.#end(() => engine.writeRelaxed((tx) => freeUpload(tx, row.file_id, row.lease_number)));
  }

  /** It has been given back: the upload is a file now. */
  fulfil(): void {
    void this.#end(async () => true);
  }

  #end(give: () => Promise<boolean>): Promise<boolean> {
    clearInterval(this.#renewing);
    clearTimeout(this.#ending);
    this.#released ??= give();
    return this.#released;
  }

  async #renew(): Promise<void> {
    const { engine, row, leaseMs, monotonic, letGo } = this.#parts;
    const askedAt = monotonic();
    try {
      const held = await engine.writeRelaxed((tx) => renewUpload(tx, row.file_id, row.lease_number, leaseMs));
      if (this.#released) return;
      if (!held) this.#lose();
      else this.#hold(askedAt);
      if (held?.is_wanted) letGo();
    } catch {
      // A database that is away may be back for the next time; otherwise the lease ends by itself.
    }
  }

  #hold(askedAt: number): void {
    if (this.#isLost) return;
    this.#heldUntil = Math.max(this.#heldUntil, askedAt + (this.#parts.leaseMs * 2) / 3);
    clearTimeout(this.#ending);
    this.#ending = setTimeout(() => this.#lose(), this.#heldUntil - this.#parts.monotonic());
  }

  #lose(): void {
    if (this.#isLost || this.#released) return;
    this.#isLost = true;
    clearInterval(this.#renewing);
    this.#lost?.(lostHold());
  }
}

export const lostHold = () =>
  new UploadBusy('This server could not hold on to the upload. Ask with HEAD where it is, and go on from there.');
