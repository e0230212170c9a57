import { type MeasureSpace, measureSpace } from '../lib/disk-space.ts';
import { resolveName } from '../webhooks/ssrf/resolve.ts';

/** The clocks, randomness, output, names and intervals that a process takes from outside. */
export interface Runtime {
  readonly now: () => number;
  /** Milliseconds on a clock that is never set, to measure durations. */
  readonly monotonic: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly print: (text: string) => void;
  readonly measureSpace: MeasureSpace;
  /** Returns the addresses of a host name. */
  readonly resolveName: (name: string) => Promise<readonly string[]>;
  /** How long a lost message may delay a consumer of the log. Counts of messages and the metrics of a minute are stored as soon. */
  readonly sweepMs: number;
  /** How often unused files are removed. */
  readonly fileSweepMs: number;
  /** A stream is written to at least this often, because proxies and clients close a silent connection. */
  readonly quietMs: number;
  /** A client of a stream that reads nothing for this long is disconnected. */
  readonly stallMs: number;
  /** Requests that still run this long after the server began to stop are aborted. */
  readonly drainMs: number;
  /** How long a push notification waits for its message to be read, if not the default. */
  readonly pushDelayMs?: number;
  /** How long the upload lease of a dead server blocks others, if not the default. */
  readonly uploadLeaseMs?: number;
  /** How often an upload lease is renewed, if not the default. */
  readonly uploadRenewMs?: number;
  /** How long a request waits for another of the same upload, if not the default. */
  readonly uploadWaitMs?: number;
}

/** Returns a random number from 0 up to, but not including, 1. */
export const chance = ({ random }: Runtime): number => new DataView(random(4).slice().buffer).getUint32(0) / 2 ** 32;

/** The clocks, randomness and output of this process. */
export const processRuntime: Runtime = {
  now: Date.now,
  monotonic: () => performance.now(),
  random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
  print: (text) => void process.stdout.write(text),
  measureSpace,
  resolveName,
  sweepMs: 2_000,
  fileSweepMs: 15_000,
  quietMs: 15_000,
  stallMs: 30_000,
  drainMs: 10_000,
};
