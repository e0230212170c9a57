import { root } from './bundle.ts';

/** Runs a program in the root of the repository and returns its output. Throws with its complaint if it fails. */
export function run([program = '', ...words]: readonly string[], { cwd = root, stdin = '' } = {}): string {
  const child = Bun.spawnSync([program, ...words], { cwd, stdin: Buffer.from(stdin) });
  if (child.success) return child.stdout.toString();
  throw new Error(`${program} ${words[0] ?? ''} failed: ${child.stderr.toString().trim()}`);
}
