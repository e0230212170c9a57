import { TransportError } from '@parley/sdk';
import { plainLine } from './failure.ts';
import { hint } from './output.ts';
import { ProgressBar } from './progress.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const goesOn = 'Run the same command again to go on where it stopped.';

/** What a command works with that moves a file. */
export interface Transfer {
  /** Aborted once the command is to end. */
  readonly signal: AbortSignal;
  /** A line beside the answer. */
  say(line: string): Promise<void>;
  show(done: number, total: number): void;
  /** Whether the next run goes on where this one stops. */
  isKept: boolean;
}

export interface TransferOptions {
  /** What is done, as it stands before the progress. */
  readonly verb: string;
  readonly json: boolean;
  readonly quiet: boolean;
}

/**
 * Moves a file while its progress is shown. Ctrl-C and the like end it in good order, and then end the process as they would
 * have ended it anyway: so a script that runs it stops too.
 */
export async function transfer<T>(options: TransferOptions, work: (transfer: Transfer) => Promise<T>): Promise<T> {
  const bar = isShown(options) ? new ProgressBar(process.stderr, options.verb) : undefined;
  const stopping = new AbortController();
  let asked: NodeJS.Signals | undefined;
  const stop = (signal: NodeJS.Signals) => {
    asked = signal;
    stopping.abort();
    // A second one does not wait.
    for (const one of signals) process.off(one, stop);
  };
  for (const signal of signals) process.on(signal, stop);
  const running: Transfer = {
    signal: stopping.signal,
    say: async (line) => {
      // In one turn with the line: nothing is drawn between the two.
      bar?.erase();
      if (!options.quiet) await hint(line);
    },
    show: (done, total) => bar?.show(done, total),
    isKept: false,
  };
  try {
    return await work(running);
  } catch (error) {
    bar?.erase();
    if (asked !== undefined) await endBy(asked, running.isKept);
    if (running.isKept && error instanceof TransportError) throw new Error(`${plainLine(error)} ${goesOn}`);
    throw error;
  } finally {
    bar?.erase();
    for (const signal of signals) process.off(signal, stop);
  }
}

const isShown = ({ json, quiet }: TransferOptions) =>
  process.stderr.isTTY === true && process.env.TERM !== 'dumb' && !json && !quiet;

async function endBy(signal: NodeJS.Signals, isKept: boolean): Promise<never> {
  // After SIGHUP there may be nobody left to tell.
  await hint(isKept ? `Stopped. ${goesOn}` : 'Stopped.').catch(() => {});
  process.kill(process.pid, signal);
  return new Promise(() => {});
}
