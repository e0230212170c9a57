import { UsageError } from './usage.ts';

/** All of standard input, without the line break that `echo` puts at its end. */
export async function readStdin(): Promise<string> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await Bun.stdin.bytes());
    return text.replace(/\r?\n$/, '');
  } catch {
    throw new UsageError('Standard input must be UTF-8 text.');
  }
}

/** Whether a person types there, so that nothing will come by itself. */
export const stdinIsTerminal = (): boolean => process.stdin.isTTY === true;
