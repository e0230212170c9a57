import { type CommandContext, type EndingSignal, endingSignals } from './context.ts';
import { StoppedBy } from './stopped-by.ts';

/** Lets the work come to its end before a signal ends the command, by `StoppedBy`; a second signal does not wait. */
export async function undisturbed<T>(
  context: Pick<CommandContext, 'onSignal' | 'exit'>,
  work: () => Promise<T>,
): Promise<T> {
  const asked: EndingSignal[] = [];
  const stopListening = context.onSignal(endingSignals, (signal) => {
    if (asked.push(signal) > 1) context.exit(1);
  });
  const [outcome] = await Promise.allSettled([work()]);
  stopListening();
  const [signal] = asked;
  if (signal !== undefined) throw new StoppedBy(signal);
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}
