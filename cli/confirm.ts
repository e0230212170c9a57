import { createInterface } from 'node:readline';
import { UsageError } from './command.ts';
import type { CommandContext } from './context.ts';
import { write } from './output.ts';

/** Asks before something that cannot be undone. Throws unless the answer is yes, or if nobody is there to be asked. */
export async function confirm(question: string, { yes }: { yes: boolean }, context: CommandContext): Promise<void> {
  if (yes) return;
  const { stdin, stderr } = context;
  if (!stdin.isTTY) throw new UsageError('Give --yes: there is no terminal to ask for confirmation.');
  await write(stderr, `${question} [y/N] `);
  const reader = createInterface({ input: stdin });
  try {
    const line = await reader[Symbol.asyncIterator]().next();
    if (line.done) await write(stderr, '\n');
    if (!/^\s*y(es)?\s*$/i.test(line.value ?? '')) throw new Error('Nothing was changed.');
  } finally {
    reader.close();
  }
}
