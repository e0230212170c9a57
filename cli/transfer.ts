import { TransportError } from '@parley/sdk';
import type { Clock, CommandContext } from './context.ts';
import { plainLine } from './failure.ts';
import { hint } from './output.ts';
import { ProgressBar } from './progress.ts';
import { abortOnSignal } from './stopped-by.ts';

const goesOn = 'Run the same command again to go on where it stopped.';

/** What a command works with that moves a file. */
export interface Transfer {
  /** Aborted once the command is to end. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
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

/** Moves a file while its progress is shown. Ctrl-C and the like end it in good order, by `StoppedBy`. */
export function transfer<T>(
  context: CommandContext,
  options: TransferOptions,
  work: (transfer: Transfer) => Promise<T>,
): Promise<T> {
  const bar = isShown(context, options) ? new ProgressBar(context.stderr, options.verb) : undefined;
  return abortOnSignal(context, async (signal) => {
    const running: Transfer = {
      signal,
      clock: context.clock,
      say: async (line) => {
        // In one turn with the line: nothing is drawn between the two.
        bar?.erase();
        if (!options.quiet) await hint(context, line);
      },
      show: (done, total) => bar?.show(done, total),
      isKept: false,
    };
    try {
      return await work(running);
    } catch (error) {
      bar?.erase();
      // After SIGHUP there may be nobody left to tell.
      if (signal.aborted) await hint(context, running.isKept ? `Stopped. ${goesOn}` : 'Stopped.').catch(() => {});
      else if (running.isKept && error instanceof TransportError) throw new Error(`${plainLine(error)} ${goesOn}`);
      throw error;
    } finally {
      bar?.erase();
    }
  });
}

const isShown = ({ stderr, env }: CommandContext, { json, quiet }: TransferOptions) =>
  stderr.isTTY === true && env.TERM !== 'dumb' && !json && !quiet;
