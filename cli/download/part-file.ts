import { createReadStream } from 'node:fs';
import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { CommandContext } from '../context.ts';
import { KeptState } from '../kept-state.ts';
import type { Sink } from './sink.ts';

/** A file that is not whole yet. It has another name until it is, and is gone on with where it is of the same bytes. */
export class PartFile implements Sink {
  /** As it was typed. */
  readonly #shown: string;
  readonly #target: string;
  readonly #path: string;
  readonly #state: KeptState;
  /** Of the whole file. */
  readonly #expected: string;
  #hasher = new Bun.CryptoHasher('sha256');
  #handle: FileHandle | undefined;
  #size = 0;
  #etag: string | undefined;

  private constructor(shown: string, target: string, expected: string, state: KeptState) {
    this.#shown = shown;
    this.#target = target;
    this.#path = partOf(target);
    this.#expected = expected;
    this.#state = state;
  }

  /** `expected` is the SHA-256 of the whole file. */
  static async open(
    typed: string,
    expected: string,
    force: boolean,
    { cwd, env }: Pick<CommandContext, 'cwd' | 'env'>,
  ): Promise<PartFile> {
    const target = resolve(cwd, typed);
    const state = await KeptState.take('download', { path: partOf(target) }, env);
    if (!state) throw new Error(`Another parley command is downloading to ${partOf(typed)}.`);
    const part = new PartFile(typed, target, expected, state);
    try {
      await part.#goOn(force);
      return part;
    } catch (error) {
      await part[Symbol.asyncDispose]();
      throw error;
    }
  }

  get size(): number {
    return this.#size;
  }

  get etag(): string | undefined {
    return this.#etag;
  }

  async begin(etag: string | undefined): Promise<void> {
    this.#etag = etag;
    this.#state.write({ sha256: this.#expected, etag });
    try {
      // What is there by now, somebody else has put there.
      this.#handle ??= await open(this.#path, 'ax');
    } catch (error) {
      this.#state.forget();
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      throw isMissing ? new Error(`There is no folder ${dirname(this.#shown)}.`) : error;
    }
  }

  async append(bytes: Uint8Array): Promise<void> {
    await this.#handle?.appendFile(bytes);
    this.#hasher.update(bytes);
    this.#size += bytes.length;
  }

  async restart(): Promise<void> {
    await this.#handle?.truncate(0);
    this.#hasher = new Bun.CryptoHasher('sha256');
    this.#size = 0;
  }

  sha256(): string {
    return this.#hasher.copy().digest('hex');
  }

  /** All bytes are there, and the right ones: the file gets its name. */
  async finish(force: boolean): Promise<void> {
    await this.#handle?.sync();
    if (force) await rename(this.#path, this.#target);
    else await renameToNew(this.#path, this.#target, this.#shown);
    this.#state.forget();
  }

  /** What is there is not what it should be. */
  async drop(): Promise<void> {
    await rm(this.#path, { force: true });
    this.#state.forget();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
    await this.#state.release();
  }

  async #goOn(force: boolean): Promise<void> {
    if (!(await isThere(this.#path))) return;
    const { sha256, etag } = this.#state.read();
    if (sha256 === this.#expected) {
      this.#etag = typeof etag === 'string' ? etag : undefined;
      this.#handle = await open(this.#path, 'a');
      for await (const bytes of createReadStream(this.#path)) {
        this.#hasher.update(bytes);
        this.#size += bytes.length;
      }
    } else if (force) {
      await rm(this.#path);
    } else {
      throw new Error(`${partOf(this.#shown)} is there already, and not of this file. Remove it, or use --force.`);
    }
  }
}

export const partOf = (target: string) => `${target}.part`;

export const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );

export const isInTheWay = (path: string) => new Error(`${path} is there already. Give another name, or use --force.`);

/** Renaming would replace what has come to be there meanwhile. Not every file system has a way that does not. */
export async function renameToNew(from: string, to: string, shown = to): Promise<void> {
  try {
    await link(from, to);
    await rm(from);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' || (await isThere(to))) throw isInTheWay(shown);
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS' && code !== 'EMLINK') throw error;
    await rename(from, to);
  }
}
