import type { Readable, Writable } from 'node:stream';
import type { Clock as Timers } from '@parley/sdk';

/** The signals that end a command, unless it listens to them. */
export const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
export type EndingSignal = (typeof endingSignals)[number];

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Clock extends Timers {
  /** Milliseconds on a clock that nobody sets. */
  now(): number;
}

export type Input = Readable & { readonly isTTY?: boolean };
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/**
 * Everything that a command uses of the process it runs in. Commands get it as an argument, so several of them can run in one
 * process, each with its own.
 */
export interface CommandContext {
  readonly env: Environment;
  /** Relative paths are resolved against it. */
  readonly cwd: string;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly clock: Clock;
  /** Calls `listener` with each of these signals, which then do not end the process. Returns a function that stops this. */
  onSignal(signals: readonly EndingSignal[], listener: (signal: EndingSignal) => void): () => void;
  /** Ends the process at once, with whatever is still under way in it. */
  exit(code: number): void;
  /** Sends requests to this host past the proxy that the environment names. */
  bypassProxy(host: string): void;
}
