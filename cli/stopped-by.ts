import { type CommandContext, type EndingSignal, endingSignals } from './context.ts';

/** A signal has ended a command, which has cleaned up. The process ends by that signal, so that a script that runs it stops too. */
export class StoppedBy extends Error {
  readonly signal: EndingSignal;

  constructor(signal: EndingSignal) {
    super(`Stopped by ${signal}.`);
    this.signal = signal;
  }
}

/**
 * Does work that a signal aborts. Throws `StoppedBy` where the work fails after a signal. A second signal ends the process at
 * once.
 */
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
