import { expect } from 'bun:test';
import type { Environment } from '@parley/server/test/support/engines.ts';
import { type Outcome, RunningCommand } from './running-command.ts';

/** Runs a command to its end, in a folder where nothing is, with this environment and no other. */
export function parley(
  words: readonly string[],
  env: Environment = {},
  stdin: string | Uint8Array = '',
): Promise<Outcome> {
  return new RunningCommand(words, { env, stdin }).end();
}

/** The same in a folder of the test's choice. */
export const parleyIn = (cwd: string, words: readonly string[], env: Environment): Promise<Outcome> =>
  new RunningCommand(words, { env, cwd }).end();

/** For commands that must succeed: what they answer, without the line break at its end. */
export async function said(...call: Parameters<typeof parley>): Promise<string> {
  const { code, stdout, stderr } = await parley(...call);
  if (code !== 0) throw new Error(`parley ${call[0].join(' ')}: exit code ${code}: ${stderr}`);
  return stdout.replace(/\n$/, '');
}

/** A failure as it has to look: nothing on standard output, one line on standard error. */
export const failed = (code: 1 | 2, line: string | RegExp): Outcome => ({
  code,
  stdout: '',
  stderr: expect.stringMatching(
    new RegExp(`^(?=[^\\n]+\\n$).*${typeof line === 'string' ? RegExp.escape(line) : line.source}`),
  ),
});
