import { Readable, Writable } from 'node:stream';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import type { Environment } from '@parley/server/test/support/engines.ts';
import { TestClock } from '../../sdk/test/test-clock.ts';
import type { Clock, CommandContext, EndingSignal, Input } from '../context.ts';

/** The context of a command in a test. By default it has an empty folder, no input and no terminal. */
export interface Surroundings {
  readonly env?: Environment;
  readonly cwd?: string;
  readonly stdin?: string | Uint8Array | Readable;
  /** Standard input, output and error are one terminal of 100 columns. */
  readonly isTerminal?: boolean;
  /** By default pauses end at once and timeouts never expire. */
  readonly clock?: Clock;
}

/** Standard output or standard error that a test reads, and whose reader it can play. */
export class Captured extends Writable {
  readonly isTTY: boolean;
  readonly columns = 100;
  readonly #decoder = new TextDecoder();
  readonly #parts: Uint8Array[] = [];
  readonly #also: (text: string) => void;
  #stuck: PromiseWithResolvers<void> | undefined;
  #isGone = false;
  text = '';
  /** A write waits for a reader. */
  isWaiting = false;

  constructor(isTTY: boolean, also: (text: string) => void) {
    super();
    this.isTTY = isTTY;
    this.#also = also;
    // The streams of a process have such a listener too.
    this.on('error', () => {});
  }

  get bytes(): Uint8Array {
    return Buffer.concat(this.#parts);
  }

  /** The reader reads nothing any more, and stays. */
  block(): void {
    this.#stuck = Promise.withResolvers();
  }

  /** The reader reads again. */
  unblock(): void {
    this.#stuck?.resolve();
    this.#stuck = undefined;
  }

  /** The reader goes away. */
  close(): void {
    this.#isGone = true;
    this.unblock();
  }

  override _write(part: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.isWaiting = this.#stuck !== undefined;
    void (this.#stuck?.promise ?? Promise.resolve()).then(() => {
      if (this.#isGone) return done(Object.assign(new Error('broken pipe'), { code: 'EPIPE' }));
      const text = this.#decoder.decode(part, { stream: true });
      this.#parts.push(part);
      this.text += text;
      this.#also(text);
      done();
    });
  }
}

/** The process that a command believes to run in. */
export class TestContext implements CommandContext {
  readonly env: Environment;
  readonly cwd: string;
  readonly stdin: Input;
  readonly stdout: Captured;
  readonly stderr: Captured;
  readonly clock: Clock;
  /** Standard output and standard error together, as a terminal shows them. */
  seen = '';
  readonly #exit = Promise.withResolvers<number>();
  readonly #listeners = new Map<EndingSignal, Set<(signal: EndingSignal) => void>>();

  constructor({ env = {}, cwd = temporaryFolder(), stdin = '', isTerminal = false, clock }: Surroundings = {}) {
    this.env = { PATH: process.env.PATH ?? '', ...env };
    this.cwd = cwd;
    const input = stdin instanceof Readable ? stdin : Readable.from([Buffer.from(stdin)], { objectMode: false });
    this.stdin = Object.assign(input, { isTTY: isTerminal });
    const see = (text: string) => {
      this.seen += text;
    };
    this.stdout = new Captured(isTerminal, see);
    this.stderr = new Captured(isTerminal, see);
    this.clock = clock ?? new TestClock();
  }

  /** The code that the command has ended its process with, while it was still at work. */
  get exited(): Promise<number> {
    return this.#exit.promise;
  }

  readonly exit = (code: number): void => this.#exit.resolve(code);

  readonly restart = (): void => {};

  readonly bypassProxy = (): void => {};

  readonly onSignal: CommandContext['onSignal'] = (signals, listener) => {
    const sets = signals.map((signal) => {
      const listeners = this.#listeners.get(signal) ?? new Set();
      this.#listeners.set(signal, listeners);
      listeners.add(listener);
      return listeners;
    });
    return () => {
      for (const listeners of sets) listeners.delete(listener);
    };
  };

  /** Sends a signal. Returns false where nobody listens to it, so that it would end a process. */
  signal(signal: EndingSignal): boolean {
    const listeners = [...(this.#listeners.get(signal) ?? [])];
    for (const listener of listeners) listener(signal);
    return listeners.length > 0;
  }
}
