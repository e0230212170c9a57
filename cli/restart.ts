import type { Environment } from './context.ts';

/** An executable has its main file inside. */
const ownWords = (): string[] =>
  Bun.isStandaloneExecutable ? process.argv.slice(2) : [...process.execArgv, ...process.argv.slice(1)];

/**
 * Starts this program again in the same process, with another environment. Windows cannot replace a process: there, this
 * returns, and only what is read later sees the change.
 */
export function restart(env: Environment): void {
  if (process.platform !== 'win32') process.execve?.(process.execPath, [process.execPath, ...ownWords()], env);
  Object.assign(process.env, env);
}
