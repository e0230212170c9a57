import { TransportError } from '@parley-chat/sdk';
import type { Clock, CommandContext } from './context.ts';
import { plainLine } from './failure.ts';
import { hint } from './output.ts';
import { type AmountText, progressBar } from './progress-bar.ts';
import { abortOnSignal } from './signals.ts';

const howToResume = 'Run the same command again to resume.';

/** A running upload, download, backup, restore or replay. */
export interface Transfer {
  /** Aborted when the command has to end. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Writes a line to standard error. */
  say(line: string): Promise<void>;
  show(done: number, total: number): void;
  /** The next run can resume this one. */
  isResumable: boolean;
}

export interface TransferOptions {
  /** Shown before the progress, such as `Uploading`. */
  readonly verb: string;
  readonly json: boolean;
  readonly quiet: boolean;
  /** The unit of the progress. The default is bytes. */
  readonly amount?: AmountText;
  /** Said after a signal. Defaults to `Stopped.` */
  readonly stopped?: string;
}

/** Runs a transfer and shows its progress. A signal aborts it, and the result is `StoppedBy`. */
export function transfer<T>(
  context: CommandContext,
  options: TransferOptions,
  work: (transfer: Transfer) => Promise<T>,
): Promise<T> {
  const { clock, stderr } = context;
  const bar = isShown(context, options) ? progressBar(stderr, options.verb, clock, options.amount) : undefined;
  return abortOnSignal(context, async (signal) => {
    const running: Transfer = {
      signal,
      clock,
      say: async (line) => {
        // No await between the two, so that nothing is drawn in between.
        bar?.erase();
        if (!options.quiet) await hint(context, line);
      },
      show: (done, total) => bar?.show(done, total),
      isResumable: false,
    };
    try {
      return await work(running);
    } catch (error) {
      bar?.erase();
      const { isResumable } = running;
      const { stopped = 'Stopped.' } = options;
      // After SIGHUP the terminal may be gone.
      if (signal.aborted) await hint(context, isResumable ? `${stopped} ${howToResume}` : stopped).catch(() => {});
      else if (isResumable && error instanceof TransportError) throw new Error(`${plainLine(error)} ${howToResume}`);
      throw error;
    } finally {
      bar?.erase();
    }
  });
}

const isShown = ({ stderr, env }: CommandContext, { json, quiet }: TransferOptions) =>
  stderr.isTTY === true && env.TERM !== 'dumb' && !json && !quiet;
