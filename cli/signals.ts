import { type Clock, type CommandContext, type EndingSignal, endingSignals } from './context.ts';
import { hint, write } from './output.ts';

/** A signal ended a command, which has cleaned up. The process ends by that signal, so that a calling script stops too. */
export class StoppedBy extends Error {
  readonly signal: EndingSignal;

  constructor(signal: EndingSignal) {
    super(`Stopped by ${signal}.`);
    this.signal = signal;
  }
}

/** Runs work that a signal aborts. Throws `StoppedBy` if the work then fails. A second signal ends the process at once. */
export async function abortOnSignal<T>(
  context: Pick<CommandContext, 'onSignal'>,
  work: (aborted: AbortSignal) => Promise<T>,
): Promise<T> {
  const stopping = new AbortController();
  const stopListening = context.onSignal(endingSignals, (signal) => {
    stopping.abort(new StoppedBy(signal));
    stopListening();
  });
  try {
    return await work(stopping.signal);
  } catch (error) {
    stopping.signal.throwIfAborted();
    throw error;
  } finally {
    stopListening();
  }
}

/** Runs work that a signal does not interrupt, and throws `StoppedBy` afterwards. A second signal ends the process at once. */
export async function deferSignals<T>(
  context: Pick<CommandContext, 'onSignal' | 'exit'>,
  work: () => Promise<T>,
): Promise<T> {
  const received: EndingSignal[] = [];
  const stopListening = context.onSignal(endingSignals, (signal) => {
    if (received.push(signal) > 1) context.exit(1);
  });
  const [outcome] = await Promise.allSettled([work()]);
  stopListening();
  const [signal] = received;
  if (signal !== undefined) throw new StoppedBy(signal);
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

/** A command that runs until it is stopped. */
export interface Task {
  /** Aborted when the command has to end. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Writes lines to standard output. */
  print(...lines: string[]): Promise<void>;
  /** Writes a line to standard error. */
  say(line: string): Promise<void>;
}

/** Limits the wait for work that cannot be interrupted, such as a write to a pipe that nobody reads. */
const graceMs = 500;

/** Runs work until Ctrl-C, SIGTERM or a closed standard output. These end the command with success. */
export async function runUntilSignal(context: CommandContext, work: (task: Task) => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const stop = () => {
    if (signal.aborted) return;
    stopping.abort();
    context.clock.timeout(graceMs, () => context.exit(0));
  };
  const stopListening = context.onSignal(['SIGINT', 'SIGTERM'], stop);
  try {
    await work({
      signal,
      clock: context.clock,
      print: async (...lines) => {
        if (lines.length === 0) return;
        if ((await write(context.stdout, `${lines.join('\n')}\n`)) === 'reader gone') stop();
      },
      say: (line) => hint(context, line),
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    stopListening();
  }
}
