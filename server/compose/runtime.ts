/** What a process takes from outside: clocks, randomness, output and intervals. */
export interface Runtime {
  readonly now: () => number;
  /** Milliseconds on a clock that is never set, to measure durations. */
  readonly monotonic: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly print: (text: string) => void;
  /** How long a lost message may delay a consumer of the log. */
  readonly sweepMs: number;
  /** How often unused files are removed. */
  readonly fileSweepMs: number;
  /** Something is written to every stream at least this often: proxies and clients close a silent connection. */
  readonly quietMs: number;
  /** A client of a stream that reads nothing for this long is disconnected. */
  readonly stallMs: number;
  /** Requests that still run this long after the server began to stop are aborted. */
  readonly drainMs: number;
  /** How long a server that has died keeps others off an upload, where that is not to be the usual time. */
  readonly uploadLeaseMs?: number;
  /** How often it renews its hold on an upload, likewise. */
  readonly uploadRenewMs?: number;
  /** How long a request waits for another at the same upload, likewise. */
  readonly uploadWaitMs?: number;
}

/** A number from 0 up to 1. */
export const chance = ({ random }: Runtime): number => new DataView(random(4).slice().buffer).getUint32(0) / 2 ** 32;
