import type { Readable, Writable } from 'node:stream';
import type { Clock as Timers } from '@parley-chat/sdk';

/** The signals that end a command unless it handles them. */
export const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
export type EndingSignal = (typeof endingSignals)[number];

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Clock extends Timers {
  /** Returns milliseconds of a monotonic clock. */
  now(): number;
}

export type Input = Readable & { readonly isTTY?: boolean };
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** The parts of the process that a command uses. Commands get it as an argument, so several can run in one process. */
export interface CommandContext {
  readonly env: Environment;
  /** The folder that relative paths start from. */
  readonly cwd: string;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly clock: Clock;
  /** What --field selects of the JSON that the command prints. */
  readonly field?: string;
  /** Calls `listener` for these signals, which then do not end the process. Returns a function that removes it. */
  onSignal(signals: readonly EndingSignal[], listener: (signal: EndingSignal) => void): () => void;
  /** Ends the process at once, without waiting for pending work. */
  exit(code: number): void;
  /**
   * Starts this program again in the same process, with another environment. Where a process cannot be replaced (Windows), it
   * returns, and only what is read later sees the change.
   */
  restart(env: Environment): void;
  /** Excludes a host from the proxy of the environment. */
  bypassProxy(host: string): void;
}
