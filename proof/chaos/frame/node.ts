import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { endWithUs } from '../../../server/test/support/cleanup.ts';

const mainFile = join(import.meta.dir, '../../../server/main.ts');

/** Whether a line of the log tells of what should not happen. That the database was away should. */
const isFault = (line: string) => line.includes('"level":"error"') && !line.includes('"code":"unavailable"');

/** A node from its start to its end. Each has a port of its own, so that no connection outlives it unnoticed. */
export class NodeLife {
  readonly #child: Subprocess<'ignore', 'pipe', 'pipe'>;
  readonly began = performance.now();
  #url: string | undefined;
  #state: 'starting' | 'up' | 'stopping' | 'killed' | 'ended' = 'starting';
  #said = '';
  readonly #faults: string[];
  readonly #listening = Promise.withResolvers<void>();

  /** Lines of the log about what should not happen go to `faults`. */
  constructor(env: Readonly<Record<string, string>>, faults: string[]) {
    this.#faults = faults;
    this.#child = Bun.spawn([process.execPath, mainFile], {
      env: { PATH: process.env.PATH ?? '', ...env, PORT: '0' },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    endWithUs(this.#child);
    const heard = this.#hear();
    void this.#readLog();
    void this.#child.exited.then(async () => {
      if (this.#state === 'starting' || this.#state === 'up') this.#state = 'ended';
      await heard;
      this.#listening.resolve();
    });
  }

  get pid(): number {
    return this.#child.pid;
  }

  get state() {
    return this.#state;
  }

  /** Where it listens; throws where it does not. */
  get url(): string {
    if (this.#url === undefined) throw new Error(`a node does not listen: ${this.#said}`);
    return this.#url;
  }

  /** Whether it ever listened. */
  get wasUp(): boolean {
    return this.#url !== undefined;
  }

  /** Answers whether it listens, once that is known. */
  async isUp(): Promise<boolean> {
    await this.#listening.promise;
    return this.#state === 'up';
  }

  /** What it said on its way. */
  get said(): string {
    return this.#said.trim();
  }

  /** At once and without mercy. */
  async kill(): Promise<void> {
    if (this.#state === 'ended') return;
    this.#state = 'killed';
    this.#child.kill('SIGKILL');
    await this.#child.exited;
  }

  /** As an operator does. Answers whether it ended by itself, in order and in time. */
  async stop(withinMs: number): Promise<boolean> {
    if (this.#state === 'ended') return false;
    this.#state = 'stopping';
    this.#child.kill('SIGTERM');
    const mercy = setTimeout(() => this.#child.kill('SIGKILL'), withinMs);
    const code = await this.#child.exited;
    clearTimeout(mercy);
    return code === 0;
  }

  async #hear(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const part of this.#child.stderr) {
      this.#said += decoder.decode(part, { stream: true });
      const url = /listening on (http:\S+)/.exec(this.#said)?.[1];
      if (url === undefined || this.#url !== undefined) continue;
      this.#url = url;
      if (this.#state === 'starting') this.#state = 'up';
      this.#listening.resolve();
    }
  }

  async #readLog(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const part of this.#child.stdout) {
      const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      this.#faults.push(...lines.filter(isFault));
    }
  }
}
