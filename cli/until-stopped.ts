/** What a command works with that does not end by itself. */
export interface Running {
  /** Aborted once the command is to end. */
  readonly signal: AbortSignal;
  /** A line of the answer. */
  print(...lines: string[]): Promise<void>;
  /** A line beside the answer. */
  say(line: string): Promise<void>;
}

/** For what cannot be interrupted, such as writing to a pipe that nobody reads. */
const graceMs = 500;

/** Works until Ctrl-C, SIGTERM, or a reader that has had enough: these end the command, and are no failure. */
export async function untilStopped(work: (running: Running) => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const stop = () => {
    if (signal.aborted) return;
    stopping.abort();
    setTimeout(() => process.exit(0), graceMs).unref();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const write = writer(stop);
  try {
    await work({
      signal,
      print: (...lines) => write(process.stdout, lines),
      say: (line) => write(process.stderr, [line]),
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function writer(readerIsGone: () => void) {
  // The callback of a write is told the same; without a listener the event would end the process with a stack trace.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return (stream: NodeJS.WriteStream, lines: readonly string[]) =>
    new Promise<void>((resolve, reject) => {
      stream.write(`${lines.join('\n')}\n`, (error?: NodeJS.ErrnoException | null) => {
        if (error && error.code !== 'EPIPE') return reject(error);
        if (error && stream === process.stdout) readerIsGone();
        resolve();
      });
    });
}
