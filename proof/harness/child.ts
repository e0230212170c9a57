import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { endWithUs } from '../../server/test/support/cleanup.ts';
import { onCore } from './machine.ts';

export type Environment = Readonly<Record<string, string>>;

export interface ChildOptions {
  readonly env?: Environment;
  /** Options of the runtime. */
  readonly flags?: readonly string[];
  /** Sent to its standard input as JSON. */
  readonly input?: unknown;
  /** The core to pin it to. */
  readonly core?: number | undefined;
  /** Receives each line of its standard output. Without it, `line` returns them. */
  readonly onLine?: (line: string) => void;
  /** A file for its standard output. */
  readonly output?: string | undefined;
}

const root = join(import.meta.dir, '../..');

/** A process that runs a file of this repository. It ends with its scope, or else with this process. */
export class Child implements AsyncDisposable {
  readonly startedAt = performance.now();
  readonly pid: number;
  readonly #file: string;
  readonly #process: Subprocess;
  readonly #lines: string[] = [];
  readonly #read: Promise<unknown>;
  #state: 'running' | 'stopping' | 'killed' = 'running';
  #stderr = '';
  #hasClosed = false;
  #news = Promise.withResolvers<void>();

  constructor(file: string, { env, flags = [], input, core, onLine, output }: ChildOptions = {}) {
    this.#file = file;
    this.#process = Bun.spawn([...onCore(core), process.execPath, ...flags, file], {
      cwd: root,
      env: { PATH: process.env.PATH ?? '', ...env },
      stdin: input === undefined ? 'ignore' : new Blob([JSON.stringify(input)]),
      stdout: output === undefined ? 'pipe' : Bun.file(output),
      stderr: 'pipe',
    });
    this.pid = this.#process.pid;
    endWithUs(this.#process);
    const { stdout, stderr, exited } = this.#process;
    const takeLine = onLine ?? ((line) => void this.#lines.push(line));
    let rest = '';
    const takeText = (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) takeLine(line);
    };
    const takeError = (text: string) => {
      this.#stderr += text;
    };
    this.#read = Promise.all([
      stdout instanceof ReadableStream && this.#readText(stdout, takeText),
      stderr instanceof ReadableStream && this.#readText(stderr, takeError),
    ]);
    void Promise.all([exited, this.#read]).then(() => {
      this.#hasClosed = true;
      this.#news.resolve();
    });
  }

  /** `ended`: by itself. */
  get state(): 'running' | 'stopping' | 'killed' | 'ended' {
    const { exitCode, signalCode } = this.#process;
    return this.#state === 'running' && (exitCode ?? signalCode) !== null ? 'ended' : this.#state;
  }

  get stderr(): string {
    return this.#stderr.trim();
  }

  /** Fails with the error output if the process has ended by itself. */
  check(): void {
    if (this.state === 'ended') throw this.#ended();
  }

  /** Returns the next line of its standard output, parsed as JSON. Fails if the process ends before. */
  async line<T>(): Promise<T> {
    const line = await this.#next(() => this.#lines.shift());
    if (line === undefined) throw this.#ended();
    return JSON.parse(line) as T;
  }

  /** Returns the first group of a pattern once it occurs in the error output, or undefined if the process ends before. */
  said(pattern: RegExp): Promise<string | undefined> {
    return this.#next(() => pattern.exec(this.#stderr)?.[1]);
  }

  /** Returns once the process has ended, and everything that it wrote has been read. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.state === 'running') this.#state = 'killed';
    this.#process.kill(signal);
    await this.#process.exited;
    await this.#read;
  }

  /** Sends SIGTERM. Returns whether the process ends with code 0 within `ms`; kills it otherwise. */
  async stop(ms = 15_000): Promise<boolean> {
    if (this.state === 'ended') return false;
    this.#state = 'stopping';
    this.#process.kill('SIGTERM');
    const late = setTimeout(() => this.#process.kill('SIGKILL'), ms);
    const code = await this.#process.exited;
    clearTimeout(late);
    return code === 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #ended(): Error {
    const { exitCode, signalCode } = this.#process;
    return new Error(`${this.#file} ended with ${exitCode ?? signalCode}: ${this.stderr}`);
  }

  async #next<T>(find: () => T | undefined): Promise<T | undefined> {
    for (;;) {
      const { promise } = this.#news;
      const found = find();
      if (found !== undefined || this.#hasClosed) return found;
      await promise;
    }
  }

  async #readText(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
    const decoder = new TextDecoder();
    for await (const part of stream) {
      take(decoder.decode(part, { stream: true }));
      this.#news.resolve();
      this.#news = Promise.withResolvers();
    }
  }
}
