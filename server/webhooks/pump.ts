import type { Drive } from './drive.ts';
import type { Entry, Lane } from './lane.ts';
import { isDoubtful, Slots } from './slots.ts';

export interface PumpParts {
  /** Whether anything may be sent to an endpoint at this moment. */
  readonly maySend: (drive: Drive) => boolean;
  /** Never rejects. */
  readonly attempt: (drive: Drive, lane: Lane, entry: Entry) => Promise<void>;
  /** An attempt has ended, and its lane may go on. */
  readonly ended: (drive: Drive, lane: Lane) => void;
}

/** Starts attempts: one endpoint after the other in a ring, as far as there are slots. */
export class Pump {
  readonly #parts: PumpParts;
  readonly #slots = new Slots();
  readonly #ring: Drive[] = [];
  /** Those that wait for a slot: one of the doubtful ones, or any. */
  readonly #parked = { doubtful: [] as Drive[], all: [] as Drive[] };

  constructor(parts: PumpParts) {
    this.#parts = parts;
  }

  /** Attempts that are under way. */
  get underWay(): number {
    return this.#slots.used;
  }

  /** An endpoint has something to send. */
  add(drive: Drive): void {
    this.#enter(drive);
    this.#run();
  }

  #enter(drive: Drive): void {
    if (drive.inRing) return;
    drive.inRing = true;
    this.#ring.push(drive);
  }

  #run(): void {
    for (let drive = this.#ring.shift(); drive; drive = this.#ring.shift()) {
      drive.inRing = false;
      if (!drive.hasReady || !this.#parts.maySend(drive)) continue;
      const refusal = this.#slots.take(drive);
      if (!refusal) {
        this.#start(drive);
        if (drive.hasReady) this.#enter(drive);
      } else if (refusal !== 'own') {
        // What its own limit holds back goes on when one of its own attempts ends.
        this.#parked[refusal].push(drive);
      }
    }
  }

  #start(drive: Drive): void {
    const wasDoubtful = isDoubtful(drive);
    const lane = drive.takeReady();
    const entry = lane?.head;
    if (!lane || !entry) {
      this.#slots.giveBack(drive, wasDoubtful);
      return;
    }
    lane.busy = true;
    void this.#parts.attempt(drive, lane, entry).then(() => {
      lane.busy = false;
      this.#slots.giveBack(drive, wasDoubtful);
      this.#unpark(wasDoubtful);
      this.#parts.ended(drive, lane);
      this.#run();
    });
  }

  /** Those that waited for a slot look again: the doubtful ones only where one of theirs became free. */
  #unpark(doubtful: boolean): void {
    for (const drive of this.#parked.all.splice(0)) this.#enter(drive);
    if (doubtful) for (const drive of this.#parked.doubtful.splice(0)) this.#enter(drive);
  }
}
