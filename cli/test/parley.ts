import { expect, setDefaultTimeout } from 'bun:test';
import { join } from 'node:path';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import type { Environment } from '@parley/server/test/support/engines.ts';

// A test starts several processes; on a busy machine each may take its time.
setDefaultTimeout(20_000);

const mainFile = join(import.meta.dir, '../main.ts');

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command as a process of its own, in a folder where nothing is, with this environment and no other. */
export async function parley(
  words: readonly string[],
  env: Environment = {},
  stdin: string | Uint8Array = '',
): Promise<Outcome> {
  return spawn([process.execPath, mainFile, ...words], temporaryFolder(), env, stdin);
}

export async function spawn(
  command: string[],
  cwd: string,
  env: Environment,
  stdin: string | Uint8Array = '',
): Promise<Outcome> {
  const child = Bun.spawn(command, {
    cwd,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdin: typeof stdin === 'string' ? new TextEncoder().encode(stdin) : stdin,
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([
    Bun.readableStreamToText(child.stdout),
    Bun.readableStreamToText(child.stderr),
  ]);
  return { code: await child.exited, stdout, stderr };
}

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
