/** What the process takes from the world around it. */
export interface World {
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly print: (text: string) => void;
  /** How long a lost wake-up may delay what follows the log. */
  readonly sweepMs: number;
}
