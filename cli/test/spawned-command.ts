import { join } from 'node:path';
import { endWithUs, temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import type { Environment } from '@parley/server/test/support/engines.ts';
import type { Outcome } from './running-command.ts';

export const mainFile = join(import.meta.dir, '../main.ts');

/** A `parley` in a process of its own, for what only a process can show. It takes longer: most tests need none. */
export class SpawnedCommand {
  readonly #child;
  readonly #said: Promise<unknown>;
  stdout = '';
  stderr = '';

  constructor(words: readonly string[], env: Environment, cwd = temporaryFolder()) {
    this.#child = Bun.spawn([process.execPath, mainFile, ...words], {
      cwd,
      env: { PATH: process.env.PATH ?? '', ...env },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    endWithUs(this.#child);
    this.#said = Promise.all([this.#collect('stdout'), this.#collect('stderr')]);
  }

  async #collect(name: 'stdout' | 'stderr'): Promise<void> {
    const decoder = new TextDecoder();
    for await (const part of this.#child[name]) this[name] += decoder.decode(part, { stream: true });
  }

  /** Writes to its standard input, which stays open. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#child.stdin.write(bytes);
    await this.#child.stdin.flush();
  }

  async end(): Promise<Outcome> {
    const code = await this.#child.exited;
    await this.#said;
    return { code, stdout: this.stdout, stderr: this.stderr };
  }

  /** Ends it, and returns the signal that it was ended by. */
  async kill(signal: NodeJS.Signals): Promise<unknown> {
    this.#child.kill(signal);
    await this.#child.exited;
    return this.#child.signalCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill('SIGKILL');
  }
}

/** Runs any program to its end, with this environment and no other. */
export async function spawn(program: string[], cwd: string, env: Environment): Promise<Outcome> {
  const child = Bun.spawn(program, {
    cwd,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdin: 'ignore',
    stderr: 'pipe',
  });
  endWithUs(child);
  const [stdout, stderr] = await Promise.all([
    Bun.readableStreamToText(child.stdout),
    Bun.readableStreamToText(child.stderr),
  ]);
  return { code: await child.exited, stdout, stderr };
}

/** A command at a real terminal of 100 columns, and all that is seen there. */
export class AtTerminal {
  readonly #child;
  seen = '';

  constructor(words: readonly string[], env: Environment) {
    this.#child = Bun.spawn([process.execPath, mainFile, ...words], {
      cwd: temporaryFolder(),
      env: { PATH: process.env.PATH ?? '', ...env },
      terminal: {
        cols: 100,
        rows: 30,
        data: (_, bytes) => {
          this.seen += new TextDecoder().decode(bytes);
        },
      },
    });
    endWithUs(this.#child);
  }

  type(text: string): void {
    this.#child.terminal?.write(text);
  }

  async end() {
    await this.#child.exited;
    return { code: this.#child.exitCode, signal: this.#child.signalCode };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#child.exited;
  }
}
