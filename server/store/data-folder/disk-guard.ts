import { ParleyError } from '@parley/contract';
import { type DiskSpace, type MeasureSpace, reserveOn } from '../../lib/disk-space.ts';

export interface DiskGuardDeps {
  readonly folder: string;
  readonly reserveBytes: number;
  /** False if only files are on the disk. Their storage checks the reserve itself. */
  readonly holdsDatabase: boolean;
  readonly measure: MeasureSpace;
  /** Called after each check. */
  readonly checked: (space: DiskSpace, isLow: boolean) => void;
  /** Called when the disk becomes low, and when it no longer is. */
  readonly changed: (space: DiskSpace, isLow: boolean) => void;
}

/** A disk is low until this much more than the limit is free. Otherwise the state could change with every check. */
const recoveryFactor = 1.1;

/**
 * Watches the free space of the data folder. The disk is low below half of the reserve: files stop at the whole reserve,
 * so they alone cannot stop messages. The other half is room for small writes, such as a sign-in or a revocation.
 */
export class DiskGuard {
  readonly #deps: DiskGuardDeps;
  #isLow = false;

  constructor(deps: DiskGuardDeps) {
    this.#deps = deps;
  }

  get isLow(): boolean {
    return this.#isLow;
  }

  /** False while the database must not grow. */
  get hasRoom(): boolean {
    return !(this.#isLow && this.#deps.holdsDatabase);
  }

  /** Throws `unavailable` while the database must not grow. Call it before a change that adds data. */
  readonly requireRoom = (): void => {
    if (this.hasRoom) return;
    throw new ParleyError(
      'unavailable',
      'The disk of the server is almost full, so nothing can be added. Whoever runs the server must free some space.',
    );
  };

  async check(): Promise<void> {
    const { folder, reserveBytes, measure, checked, changed } = this.#deps;
    const space = await measure(folder);
    const limit = reserveOn(space.total, reserveBytes) / 2;
    const isLow = space.free < (this.#isLow ? limit * recoveryFactor : limit);
    const hasChanged = isLow !== this.#isLow;
    this.#isLow = isLow;
    checked(space, isLow);
    if (hasChanged) changed(space, isLow);
  }
}
