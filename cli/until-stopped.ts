import type { Clock, CommandContext } from './context.ts';
import { hint, write } from './output.ts';

/** What a command works with that does not end by itself. */
export interface Running {
  /** Aborted once the command is to end. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** A line of the answer. */
  print(...lines: string[]): Promise<void>;
  /** A line beside the answer. */
  say(line: string): Promise<void>;
}

/** For what cannot be interrupted, such as writing to a pipe that nobody reads. */
const graceMs = 500;

/** Works until Ctrl-C, SIGTERM, or a reader that has had enough: these end the command, and are no failure. */
export async function untilStopped(context: CommandContext, work: (running: Running) => Promise<void>): Promise<void> {
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
