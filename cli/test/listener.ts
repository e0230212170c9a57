import type { Environment } from '@parley/server/test/support/engines.ts';
import { eventually } from '../../sdk/test/eventually.ts';
import type { EndingSignal } from '../context.ts';
import type { Surroundings } from './context.ts';
import { RunningCommand } from './running-command.ts';

type Started = [env: Environment, surroundings?: Omit<Surroundings, 'env'>];

/** A running `parley listen` or `parley events tail`. */
export class Listener {
  readonly command: RunningCommand;

  private constructor(words: readonly string[], surroundings: Surroundings) {
    this.command = new RunningCommand(words, surroundings);
  }

  /** Starts `parley listen`. */
  static start(words: readonly string[], ...rest: Started): Promise<Listener> {
    return Listener.#start(['listen', ...words], ...rest);
  }

  /** Starts `parley events tail`. */
  static tail(words: readonly string[], ...rest: Started): Promise<Listener> {
    return Listener.#start(['events', 'tail', ...words], ...rest);
  }

  /** Waits until it says that it listens: what happens from then on it must not miss. */
  static async #start(words: readonly string[], ...[env, surroundings = {}]: Started): Promise<Listener> {
    const listener = new Listener(words, { ...surroundings, env });
    await listener.says('Press Ctrl-C to stop.\n');
    return listener;
  }

  get stdout(): string {
    return this.command.stdout;
  }

  get stderr(): string {
    return this.command.stderr;
  }

  get lines(): string[] {
    return this.stdout.split('\n').slice(0, -1);
  }

  async says(text: string): Promise<void> {
    await eventually(`${JSON.stringify(text)} on standard error`, () => this.stderr.includes(text));
  }

  prints(lines: number): Promise<string[]> {
    return eventually(`${lines} lines`, () => this.lines.length >= lines && this.lines);
  }

  /** Ends it, and returns its exit code. */
  stop(signal: EndingSignal = 'SIGTERM'): Promise<number | EndingSignal> {
    return this.command.stop(signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.command[Symbol.asyncDispose]();
  }
}
