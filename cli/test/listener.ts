import { join } from 'node:path';
import { endWithUs, temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import type { Environment } from '@parley/server/test/support/engines.ts';

const mainFile = join(import.meta.dir, '../main.ts');
const patienceMs = 15_000;

/** Looks again and again until there is something, for as long as a slow machine may need. */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | null | Promise<T | undefined | false | null>,
): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await Bun.sleep(10);
  }
}

/** A running `parley listen`. */
export class Listener {
  readonly #child;
  stdout = '';
  stderr = '';

  private constructor(words: readonly string[], env: Environment) {
    this.#child = Bun.spawn([process.execPath, mainFile, 'listen', ...words], {
      cwd: temporaryFolder(),
      env: { PATH: process.env.PATH ?? '', ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    endWithUs(this.#child);
    void this.#collect('stdout');
    void this.#collect('stderr');
  }

  /** Starts it, and waits until it says that it listens: what happens from then on it must not miss. */
  static async start(words: readonly string[], env: Environment): Promise<Listener> {
    const listener = new Listener(words, env);
    await listener.says('Ctrl-C stops.\n');
    return listener;
  }

  async #collect(name: 'stdout' | 'stderr'): Promise<void> {
    const decoder = new TextDecoder();
    for await (const part of this.#child[name]) this[name] += decoder.decode(part, { stream: true });
  }

  get lines(): string[] {
    return this.stdout.split('\n').slice(0, -1);
  }

  async says(text: string): Promise<void> {
    await eventually(`${JSON.stringify(text)} in: ${this.stderr}`, () => this.stderr.includes(text));
  }

  prints(lines: number): Promise<string[]> {
    return eventually(`${lines} lines`, () => this.lines.length >= lines && this.lines);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL');
  }

  /** Ends it and answers its exit code. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
    this.#child.kill(signal);
    return this.#child.exited;
  }
}
