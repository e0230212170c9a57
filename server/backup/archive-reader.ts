import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { BackupError, damaged } from './failure.ts';
import { type Manifest, parseEnd, parseManifest, parseMissing } from './manifest.ts';
import { blockBytes, paddingAfter, parseHeader } from './tar.ts';

/** One file of the archive. Its bytes are to be taken before the next one is asked for, or are passed over. */
export interface Entry {
  readonly name: string;
  readonly size: number;
  bytes(): AsyncIterable<Uint8Array>;
  /** For what is known to be small. */
  text(): Promise<string>;
}

/** More than a page of a table ever comes to. It is held in memory as a whole. */
export const maxTextBytes = 32 * 1_048_576;

/** Reads a backup from its beginning to its end: `read` is given what is in it, and must go through all of it. */
export async function readArchive<T>(
  compressed: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  read: (archive: Archive) => Promise<T>,
): Promise<T> {
  let answer: { value: T } | undefined;
  try {
    await pipeline(untilAborted(compressed, signal), createZstdDecompress(), async (bytes: AsyncIterable<Buffer>) => {
      const archive = await Archive.open(bytes);
      answer = { value: await read(archive) };
      if (!archive.isRead) throw new Error('the backup was not read to its end');
    });
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === 'ZSTD_error_prefix_unknown') throw noBackup();
    if (typeof code === 'string' && code.startsWith('ZSTD_')) throw damaged('it cannot be decompressed', error);
    throw error;
  }
  if (!answer) throw new Error('the backup was not read');
  return answer.value;
}

/** Breaks off, also while the next bytes are waited for. Who reads can then undo what was begun, and is waited for. */
async function* untilAborted(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort);
  const reading = bytes[Symbol.asyncIterator]();
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await Promise.race([reading.next(), aborted.promise]);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

const noBackup = () => new BackupError('This is no backup that Parley has made.');

/** Goes through the whole of a backup; throws where it is damaged, or what it says of itself is refused. */
export function checkArchive(
  compressed: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  check: (manifest: Manifest) => void,
): Promise<void> {
  return readArchive(compressed, signal, async (archive) => {
    check(archive.manifest);
    for await (const _ of archive.entries());
  });
}

export class Archive {
  readonly #source: Source;
  readonly manifest: Manifest;
  #missing: readonly number[] | undefined;
  #isRead = false;

  private constructor(source: Source, manifest: Manifest) {
    this.#source = source;
    this.manifest = manifest;
  }

  static async open(bytes: AsyncIterable<Buffer>): Promise<Archive> {
    const source = new Source(bytes);
    const first = await source.next();
    if (first?.name !== 'manifest.json') throw noBackup();
    return new Archive(source, parseManifest(await first.text()));
  }

  /** Everything but what the archive says of itself. */
  async *entries(): AsyncGenerator<Entry> {
    for (;;) {
      const sha256 = await this.#source.hashSoFar();
      const entry = await this.#source.next();
      if (!entry) throw damaged('it has no end');
      if (entry.name === 'missing.json') this.#missing = parseMissing(await entry.text());
      else if (entry.name === 'end.json') return await this.#finish(await entry.text(), sha256);
      else yield entry;
    }
  }

  async #finish(text: string, sha256: string): Promise<void> {
    if (parseEnd(text) !== sha256) throw damaged('its hash is another one');
    await this.#source.requireEnd();
    this.#isRead = true;
  }

  /** The files that are not in it, or not whole. Known once all entries have been read. */
  get missing(): readonly number[] {
    if (!this.#missing) throw damaged('it does not tell which files are missing');
    return this.#missing;
  }

  get isRead(): boolean {
    return this.#isRead;
  }
}

/** The archive's bytes, taken entry by entry. */
class Source {
  readonly #reading: AsyncIterator<Buffer>;
  readonly #hasher = new Bun.CryptoHasher('sha256');
  #rest: Buffer = Buffer.alloc(0);
  /** Of the entry that was read last: its bytes that nobody has taken yet, and what fills its last block. */
  #left = 0;
  #padding = 0;

  constructor(bytes: AsyncIterable<Buffer>) {
    this.#reading = bytes[Symbol.asyncIterator]();
  }

  /** Of everything up to the end of the last entry. */
  async hashSoFar(): Promise<string> {
    await this.#finishEntry();
    return this.#hasher.copy().digest('hex');
  }

  async next(): Promise<Entry | undefined> {
    await this.#finishEntry();
    const parsed = parseHeader(await this.#exactly(blockBytes));
    if (!parsed) return undefined;
    const { name, size } = parsed;
    this.#left = size;
    this.#padding = paddingAfter(size).length;
    return {
      name,
      size,
      bytes: () => this.#body(),
      text: async () => {
        if (size > maxTextBytes) throw damaged(`${name} is too large`);
        return (await this.#exactly(size)).toString('utf8');
      },
    };
  }

  /** Nothing comes any more but what fills an archive up. */
  async requireEnd(): Promise<void> {
    for (let bytes: Buffer | undefined = this.#rest; bytes; ) {
      if (bytes.some((byte) => byte !== 0)) throw damaged('it goes on after its end');
      const next = await this.#reading.next();
      bytes = next.done ? undefined : next.value;
    }
  }

  async *#body(): AsyncGenerator<Uint8Array> {
    while (this.#left > 0) yield await this.#upTo(this.#left);
  }

  async #finishEntry(): Promise<void> {
    for await (const _ of this.#body());
    for (this.#left = this.#padding, this.#padding = 0; this.#left > 0; ) await this.#upTo(this.#left);
  }

  async #exactly(count: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = count; left > 0; left -= parts.at(-1)?.length ?? 0) parts.push(await this.#upTo(left));
    return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
  }

  async #upTo(count: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const next = await this.#reading.next();
      if (next.done) throw damaged('it ends too early');
      this.#rest = next.value;
    }
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(taken.length);
    this.#left = Math.max(0, this.#left - taken.length);
    this.#hasher.update(taken);
    return taken;
  }
}
