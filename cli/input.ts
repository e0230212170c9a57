import { UsageError } from './command.ts';
import type { CommandContext } from './context.ts';

/** Returns all of standard input, without a final line break. Throws if it is not UTF-8. */
export async function readStdin({ stdin }: Pick<CommandContext, 'stdin'>): Promise<string> {
  return textOf(Buffer.concat(await Array.fromAsync(stdin as AsyncIterable<Uint8Array>)), 'Standard input');
}

/** Returns the text without a final line break. Throws if it is not UTF-8. `from` starts the message. */
export function textOf(bytes: Uint8Array, from: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.replace(/\r?\n$/, '');
  } catch {
    throw new UsageError(`${from} must be UTF-8 text.`);
  }
}
