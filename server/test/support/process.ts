import { expect } from 'bun:test';
import { join } from 'node:path';
import { endWithUs } from './cleanup.ts';
import type { Environment } from './engines.ts';
import { eventually } from './eventually.ts';

const mainFile = join(import.meta.dir, '../../main.ts');

/** A server in a process of its own, with all its output. */
export class Talking {
  readonly #child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>;
  readonly #said = { stdout: '', stderr: '' };
  readonly #ended: Promise<void>;

  /** `preload` is a file that runs before the server. */
  constructor(env: Environment, preload?: string) {
    const before = preload === undefined ? [] : ['--preload', preload];
    this.#child = Bun.spawn([process.execPath, ...before, mainFile], {
      env: { PATH: process.env.PATH ?? '', ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    endWithUs(this.#child);
    this.#ended = Promise.all([this.#listen('stdout'), this.#listen('stderr')]).then(() => {});
  }

  async #listen(stream: 'stdout' | 'stderr'): Promise<void> {
    const decoder = new TextDecoder();
    for await (const part of this.#child[stream]) this.#said[stream] += decoder.decode(part, { stream: true });
  }

  get stdout(): string {
    return this.#said.stdout;
  }

  get stderr(): string {
    return this.#said.stderr;
  }

  /** Resolves with the URL that it prints. */
  async url(): Promise<string> {
    return eventually('the server listens', async () => {
      const url = /listening on (http:\S+)/.exec(this.#said.stderr)?.[1];
      if (url === undefined && this.#child.exitCode !== null) {
        throw new Error(`the server did not start: ${this.#said.stderr}`);
      }
      return url;
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves with its output and exit code. */
  async end(): Promise<{ code: number; stdout: string; stderr: string }> {
    const code = await this.#child.exited;
    await this.#ended;
    return { code, ...this.#said };
  }
}

/** Starts a server that must fail with one line and code 1. Returns the line. */
export async function startsInVain(env: Environment, preload?: string): Promise<string> {
  const { code, stdout, stderr } = await new Talking(env, preload).end();
  expect({ code, stdout, lines: stderr.trimEnd().split('\n').length, stderr }).toEqual({
    code: 1,
    stdout: '',
    lines: 1,
    stderr,
  });
  expect(stderr).not.toMatch(/^\s+at |\.ts:\d+/m);
  return stderr;
}
