import { createReadStream } from 'node:fs';
import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { CommandContext } from '../context.ts';
import { type ResumeState, takeResumeState } from '../resume-state.ts';
import type { Sink } from './sink.ts';

/** A partial download. It is named `<path>.part` until it is complete, and a later run resumes it. */
export class PartFile implements Sink {
  /** The target as it was typed. */
  readonly #typed: string;
  readonly #target: string;
  readonly #state: ResumeState;
  /** The SHA-256 of the whole file. */
  readonly #expected: string;
  #hasher = new Bun.CryptoHasher('sha256');
  #handle: FileHandle | undefined;
  size = 0;
  etag: string | undefined;

  private constructor(typed: string, target: string, expected: string, state: ResumeState) {
    this.#typed = typed;
    this.#target = target;
    this.#expected = expected;
    this.#state = state;
  }

  /** `expected` is the SHA-256 of the whole file. Throws if another command is downloading to the same path. */
  static async open(
    typed: string,
    expected: string,
    force: boolean,
    { cwd, env }: Pick<CommandContext, 'cwd' | 'env'>,
  ): Promise<PartFile> {
    const target = resolve(cwd, typed);
    const state = await takeResumeState('download', { path: partOf(target) }, env);
    if (!state) throw new Error(`Another parley command is downloading to ${partOf(typed)}.`);
    const part = new PartFile(typed, target, expected, state);
    try {
      await part.#resume(force);
      return part;
    } catch (error) {
      await part[Symbol.asyncDispose]();
      throw error;
    }
  }

  async begin(etag: string | undefined): Promise<void> {
    this.etag = etag;
    this.#state.write({ sha256: this.#expected, etag });
    try {
      // Fails if something else has created the file meanwhile.
      this.#handle ??= await open(partOf(this.#target), 'ax');
    } catch (error) {
      this.#state.clear();
      throw missingFolder(error, this.#typed);
    }
  }

  async append(bytes: Uint8Array): Promise<void> {
    await this.#handle?.appendFile(bytes);
    this.#hasher.update(bytes);
    this.size += bytes.length;
  }

  async restart(): Promise<void> {
    await this.#handle?.truncate(0);
    this.#hasher = new Bun.CryptoHasher('sha256');
    this.size = 0;
  }

  sha256(): string {
    return this.#hasher.copy().digest('hex');
  }

  /** Renames the complete file to its target. */
  async finish(force: boolean): Promise<void> {
    await this.#handle?.sync();
    await renamePart(this.#target, this.#typed, force);
    this.#state.clear();
  }

  /** Removes a file with wrong bytes. */
  async drop(): Promise<void> {
    await rm(partOf(this.#target), { force: true });
    this.#state.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
    await this.#state.release();
  }

  async #resume(force: boolean): Promise<void> {
    const path = partOf(this.#target);
    if (!(await exists(path))) return;
    const { sha256, etag } = this.#state.read();
    if (sha256 === this.#expected) {
      this.etag = typeof etag === 'string' ? etag : undefined;
      this.#handle = await open(path, 'a');
      for await (const bytes of createReadStream(path)) {
        this.#hasher.update(bytes);
        this.size += bytes.length;
      }
    } else if (force) {
      await rm(path);
    } else {
      throw new Error(`${partOf(this.#typed)} exists and belongs to another file. Remove it, or use --force.`);
    }
  }
}

export const partOf = (target: string) => `${target}.part`;

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );

export const alreadyExists = (path: string) =>
  new Error(`${path} already exists. Choose another name, or use --force.`);

/** Returns a plain error if the folder of a path does not exist, or else the same error. */
export const missingFolder = (error: unknown, typed: string): unknown =>
  (error as NodeJS.ErrnoException).code === 'ENOENT' ? new Error(`There is no folder ${dirname(typed)}.`) : error;

/** Renames a part to its target. Without `force` it fails if the target exists: rename would replace it. */
export async function renamePart(target: string, typed: string, force: boolean, part = partOf(target)): Promise<void> {
  if (force) return rename(part, target);
  try {
    await link(part, target);
    await rm(part);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code === 'EEXIST' || (await exists(target))) throw alreadyExists(typed);
    // Not every file system has links.
    if (!['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK'].includes(code)) throw error;
    await rename(part, target);
  }
}
