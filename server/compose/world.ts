/** What the process takes from the world around it. */
export interface World {
  readonly now: () => number;
  /** Milliseconds on a clock that nobody sets. It measures leases, timeouts and durations. */
  readonly monotonic: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly print: (text: string) => void;
  /** How long a lost wake-up may delay what follows the log. */
  readonly sweepMs: number;
  /** How often files that nobody needs any more are removed. */
  readonly fileSweepMs: number;
  /** Something is written to every stream at least this often: proxies and readers take a longer silence for a dead connection. */
  readonly quietMs: number;
  /** A reader of a stream that takes in nothing for this long is cut off. */
  readonly stallMs: number;
  /** Requests that are still running this long after the server was told to stop are cut off. */
  readonly drainMs: number;
  /** How long a server that has died keeps others off an upload, where that is not to be the usual time. */
  readonly uploadLeaseMs?: number;
  /** How often it renews its hold on an upload, likewise. */
  readonly uploadRenewMs?: number;
  /** How long a request waits for another at the same upload, likewise. */
  readonly uploadWaitMs?: number;
}

/** A number from 0 up to 1. */
export const chance = ({ random }: World): number => new DataView(random(4).slice().buffer).getUint32(0) / 2 ** 32;
