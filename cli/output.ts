import { jsonLine } from './terminal.ts';

/** The answer of a command: what a pipe or a variable is meant to hold. */
export async function print(...lines: string[]): Promise<void> {
  if (lines.length > 0) await write(process.stdout, `${lines.join('\n')}\n`);
}

/** What is said beside the answer. */
export async function hint(line: string): Promise<void> {
  await write(process.stderr, `${line}\n`);
}

export const printJson = (value: unknown): Promise<void> => print(jsonLine(value));

/** A reader that has had enough, such as `head`, is no failure; a disk that is full is one. */
function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // The callback is told the same; without a listener the event would end the process with a stack trace.
    stream.once('error', () => {});
    stream.write(text, (error?: NodeJS.ErrnoException | null) =>
      error && error.code !== 'EPIPE' ? reject(error) : resolve(),
    );
  });
}
