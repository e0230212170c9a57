import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { endWithUs } from '../../../server/test/support/cleanup.ts';

/**
 * A process that does for a fault what must not happen in this one: hold a lock, be killed, keep thousands of connections busy. It
 * is given one JSON value, and says something in lines of JSON.
 */
export class Assistant<Line> implements AsyncDisposable {
  readonly #child: Subprocess<'ignore', 'pipe', 'inherit'>;
  readonly #lines: Line[] = [];
  readonly #take: (line: Line) => void;
  readonly #reading: Promise<void>;
  #heard = Promise.withResolvers<void>();

  /** `file` is one of this folder's parent; every line goes to `take` as it comes. */
  constructor(file: string, given: unknown, take: (line: Line) => void = () => {}) {
    this.#take = take;
    this.#child = Bun.spawn([process.execPath, join(import.meta.dir, '..', file), JSON.stringify(given)], {
      env: { PATH: process.env.PATH ?? '' },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    });
    endWithUs(this.#child);
    this.#reading = this.#read();
  }

  /** The first line that it says, or the one after those that were asked for before. Throws where it ends without it. */
  async line(): Promise<Line> {
    for (;;) {
      const heard = this.#heard.promise;
      const line = this.#lines.shift();
      if (line !== undefined) return line;
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        await this.#reading;
        const last = this.#lines.shift();
        if (last !== undefined) return last;
        throw new Error('an assistant ended without a word');
      }
      await Promise.race([heard, this.#child.exited]);
    }
  }

  /** Ends it, and answers once everything that it said has been heard. */
  async end(signal: NodeJS.Signals): Promise<void> {
    this.#child.kill(signal);
    await this.ended();
  }

  async ended(): Promise<void> {
    await this.#child.exited;
    await this.#reading;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.end('SIGKILL');
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const part of this.#child.stdout) {
      const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const text of lines) {
        const line = JSON.parse(text) as Line;
        this.#lines.push(line);
        this.#take(line);
      }
      this.#heard.resolve();
      this.#heard = Promise.withResolvers<void>();
    }
  }
}
