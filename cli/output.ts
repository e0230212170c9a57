import type { CommandContext, Output } from './context.ts';
import { jsonLine } from './terminal.ts';

/** The answer of a command: what a pipe or a variable is meant to hold. */
export async function print({ stdout }: Pick<CommandContext, 'stdout'>, ...lines: string[]): Promise<void> {
  if (lines.length > 0) await write(stdout, `${lines.join('\n')}\n`);
}

/** What is said beside the answer. */
export async function hint({ stderr }: Pick<CommandContext, 'stderr'>, line: string): Promise<void> {
  await write(stderr, `${line}\n`);
}

export const printJson = (context: Pick<CommandContext, 'stdout'>, value: unknown): Promise<void> =>
  print(context, jsonLine(value));

/** A reader that has had enough, such as `head`, is no failure; a disk that is full is one. */
export function write(stream: Output, text: string | Uint8Array): Promise<'read' | 'reader gone'> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error?: NodeJS.ErrnoException | null) => {
      if (!error) resolve('read');
      else if (error.code === 'EPIPE') resolve('reader gone');
      else reject(error);
    });
  });
}
