/** What the process takes from the world around it. */
export interface World {
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly print: (text: string) => void;
  /** How long a lost wake-up may delay what follows the log. */
  readonly sweepMs: number;
}

/** A number from 0 up to 1. */
export const chance = ({ random }: World): number => new DataView(random(4).slice().buffer).getUint32(0) / 2 ** 32;
