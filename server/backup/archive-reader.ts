import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { BackupError, damaged } from './failure.ts';
import { type Manifest, parseEnd, parseManifest, parseMissing } from './manifest.ts';
import { blockBytes, paddingAfter, parseHeader } from './tar.ts';

/** One file of the archive. Read its bytes before asking for the next entry; unread bytes are skipped. */
export interface Entry {
  readonly name: string;
  readonly size: number;
  bytes(): AsyncIterable<Uint8Array>;
  /** Throws if the entry is larger than `maxTextBytes`. */
  text(): Promise<string>;
}

/** Larger than any page of a table. Such an entry is held in memory as a whole. */
export const maxTextBytes = 32 * 1_048_576;

/** Reads a backup. `read` must consume all entries. Throws `BackupError` if the backup is damaged. */
export async function readArchive<T>(
  compressed: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  read: (archive: Archive) => Promise<T>,
): Promise<T> {
  let result: { value: T } | undefined;
  try {
    await pipeline(untilAborted(compressed, signal), createZstdDecompress(), async (bytes: AsyncIterable<Buffer>) => {
      const archive = await Archive.open(bytes);
      result = { value: await read(archive) };
      if (!archive.isRead) throw new Error('the backup was not read to its end');
    });
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === 'ZSTD_error_prefix_unknown') throw notABackup();
    if (typeof code === 'string' && code.startsWith('ZSTD_')) throw damaged('it cannot be decompressed', error);
    throw error;
  }
  if (!result) throw new Error('the backup was not read');
  return result.value;
}

/** Throws on abort, even while it waits for the next bytes. The consumer can then undo its work before the pipeline ends. */
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

const notABackup = () => new BackupError('This is not a backup made by Parley.');

/** Reads a whole backup. Throws if it is damaged or if `check` throws. */
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
  readonly #tar: TarReader;
  readonly manifest: Manifest;
  #missing: readonly number[] | undefined;
  #isRead = false;

  private constructor(tar: TarReader, manifest: Manifest) {
    this.#tar = tar;
    this.manifest = manifest;
  }

  static async open(bytes: AsyncIterable<Buffer>): Promise<Archive> {
    const tar = new TarReader(bytes);
    const first = await tar.next();
    if (first?.name !== 'manifest.json') throw notABackup();
    return new Archive(tar, parseManifest(await first.text()));
  }

  /** Yields the entries without the manifest and the other metadata. */
  async *entries(): AsyncGenerator<Entry> {
    for (;;) {
      const sha256 = await this.#tar.hashSoFar();
      const entry = await this.#tar.next();
      if (!entry) throw damaged('its last entry is missing');
      if (entry.name === 'missing.json') this.#missing = parseMissing(await entry.text());
      else if (entry.name === 'end.json') return await this.#finish(await entry.text(), sha256);
      else yield entry;
    }
  }

  async #finish(text: string, sha256: string): Promise<void> {
    if (parseEnd(text) !== sha256) throw damaged('its hash does not match');
    await this.#tar.requireEnd();
    this.#isRead = true;
  }

  /** The files that are missing or incomplete in the archive. Available once all entries have been read. */
  get missing(): readonly number[] {
    if (!this.#missing) throw damaged('its list of missing files is absent');
    return this.#missing;
  }

  get isRead(): boolean {
    return this.#isRead;
  }
}

/** Splits the bytes of a tar archive into entries and hashes them. */
class TarReader {
  readonly #reading: AsyncIterator<Buffer>;
  readonly #hasher = new Bun.CryptoHasher('sha256');
  #rest: Buffer = Buffer.alloc(0);
  /** Unread bytes of the current entry, and the padding of its last block. */
  #left = 0;
  #padding = 0;

  constructor(bytes: AsyncIterable<Buffer>) {
    this.#reading = bytes[Symbol.asyncIterator]();
  }

  /** Returns the hash of everything up to the end of the last entry. */
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

  /** Throws if anything but zeros follows. */
  async requireEnd(): Promise<void> {
    for (let bytes: Buffer | undefined = this.#rest; bytes; ) {
      if (bytes.some((byte) => byte !== 0)) throw damaged('bytes follow its end');
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
      if (next.done) throw damaged('it is truncated');
      this.#rest = next.value;
    }
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(taken.length);
    this.#left = Math.max(0, this.#left - taken.length);
    this.#hasher.update(taken);
    return taken;
  }
}
