import type { CommandContext } from './context.ts';
import { UsageError } from './usage.ts';

/** All of standard input, without the line break that `echo` puts at its end. */
export async function readStdin({ stdin }: Pick<CommandContext, 'stdin'>): Promise<string> {
  const bytes = Buffer.concat(await Array.fromAsync(stdin as AsyncIterable<Uint8Array>));
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.replace(/\r?\n$/, '');
  } catch {
    throw new UsageError('Standard input must be UTF-8 text.');
  }
}

/** Whether a person types there, so that nothing will come by itself. */
export const stdinIsTerminal = ({ stdin }: Pick<CommandContext, 'stdin'>): boolean => stdin.isTTY === true;
