import { UsageError } from './command.ts';
import type { CommandContext } from './context.ts';

/** Returns all of standard input, without a final line break. Throws if it is not UTF-8. */
export async function readStdin({ stdin }: Pick<CommandContext, 'stdin'>): Promise<string> {
  const bytes = Buffer.concat(await Array.fromAsync(stdin as AsyncIterable<Uint8Array>));
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.replace(/\r?\n$/, '');
  } catch {
    throw new UsageError('Standard input must be UTF-8 text.');
  }
}
