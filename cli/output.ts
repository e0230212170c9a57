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

// The callback of a write is told the same; without a listener the event would end the process with a stack trace.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

/** A reader that has had enough, such as `head`, is no failure; a disk that is full is one. */
export function write(stream: NodeJS.WriteStream, text: string | Uint8Array): Promise<'read' | 'reader gone'> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error?: NodeJS.ErrnoException | null) => {
      if (!error) resolve('read');
      else if (error.code === 'EPIPE') resolve('reader gone');
      else reject(error);
    });
  });
}
