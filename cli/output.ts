import type { CommandContext, Output } from './context.ts';
import { jsonLine } from './terminal.ts';

/** Writes lines to standard output: the result of a command. */
export async function print({ stdout }: Pick<CommandContext, 'stdout'>, ...lines: string[]): Promise<void> {
  if (lines.length > 0) await write(stdout, `${lines.join('\n')}\n`);
}

/** Writes a line to standard error. */
export async function hint({ stderr }: Pick<CommandContext, 'stderr'>, line: string): Promise<void> {
  await write(stderr, `${line}\n`);
}

export const printJson = (context: Pick<CommandContext, 'stdout'>, value: unknown): Promise<void> =>
  print(context, jsonLine(value));

/** Rejects if the write fails, such as on a full disk. A closed pipe, such as by `head`, is not a failure. */
export function write(stream: Output, text: string | Uint8Array): Promise<'read' | 'reader gone'> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error?: NodeJS.ErrnoException | null) => {
      if (!error) resolve('read');
      else if (error.code === 'EPIPE') resolve('reader gone');
      else reject(error);
    });
  });
}
