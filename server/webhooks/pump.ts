import type { Drive } from './drive.ts';
import type { Entry, Lane } from './lane.ts';
import { type Kind, type Slot, Slots, slowMs } from './slots.ts';

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
  #willRun = false;
  /** Those that wait for a slot, by whose limit is in their way. */
  readonly #parked: Record<Kind, Drive[]> = { doubtful: [], untried: [], proven: [] };

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
    this.#runSoon();
  }

  #runSoon(): void {
    if (this.#willRun) return;
    this.#willRun = true;
    setImmediate(() => {
      this.#willRun = false;
      this.#run();
    });
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
      const slot = this.#slots.take(drive);
      if ('refusal' in slot) {
        // What its own limit holds back goes on when one of its own attempts ends.
        if (slot.refusal !== 'own') this.#parked[slot.refusal].push(drive);
        continue;
      }
      this.#start(drive, slot);
      if (drive.hasReady) this.#enter(drive);
    }
  }

  #start(drive: Drive, slot: Slot): void {
    const lane = drive.takeReady();
    const entry = lane?.head;
    if (!lane || !entry) {
      this.#slots.giveBack(drive, slot);
      return;
    }
    lane.busy = true;
    const slow = slot.kind === 'untried' ? setTimeout(() => this.#markSlow(slot), slowMs) : undefined;
    void this.#parts.attempt(drive, lane, entry).then(() => {
      clearTimeout(slow);
      lane.busy = false;
      const { kind } = slot;
      this.#slots.giveBack(drive, slot);
      this.#unpark(kind);
      this.#parts.ended(drive, lane);
      this.#runSoon();
    });
  }

  #markSlow(slot: Slot): void {
    this.#slots.markSlow(slot);
    this.#unpark('untried');
    this.#runSoon();
  }

  /** Those that waited for a slot of this kind look again; doubtful and untried ones also have a limit together. */
  #unpark(kind: Kind): void {
    this.#admit('proven');
    if (kind === 'proven') return;
    this.#admit('untried');
    if (kind === 'doubtful') this.#admit('doubtful');
  }

  #admit(kind: Kind): void {
    if (this.#parked[kind].length > 0) for (const drive of this.#parked[kind].splice(0)) this.#enter(drive);
  }
}
