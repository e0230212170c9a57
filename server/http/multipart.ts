import { ParleyError } from '@parley/contract';
import { freeBytes } from '../domain/free-bytes.ts';
import { brokenForm, type PartHead, readPartHead } from './part-head.ts';

export type { PartHead } from './part-head.ts';

/** Receives the bytes of one part. They are reused after `write` resolves. */
export interface PartSink {
  write(bytes: Uint8Array): Promise<void> | void;
  end(): Promise<void> | void;
}

const maxHeadBytes = 16_384;
/** Before the first part and after the last one. */
const maxAroundBytes = 65_536;

/** Reads a form part by part, as fast as the sinks accept the bytes. Throws if it is malformed. */
export async function readMultipart(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
  open: (part: PartHead) => Promise<PartSink>,
  maxParts: number,
): Promise<void> {
  const form = new Form(contentType, maxParts, open);
  for await (const bytes of body) {
    await form.take(bytes);
  }
  form.end();
}

type State = 'preamble' | 'delimiter' | 'head' | 'content' | 'epilogue';

class Form {
  readonly #delimiter: Buffer;
  readonly #maxParts: number;
  readonly #open: (part: PartHead) => Promise<PartSink>;
  #state: State = 'preamble';
  #sink: PartSink | undefined;
  #parts = 0;
  #around = 0;
  /** Bytes that may belong to a delimiter. Starts with the line break that the first delimiter lacks. */
  #rest: Buffer = Buffer.from('\r\n');

  constructor(contentType: string, maxParts: number, open: (part: PartHead) => Promise<PartSink>) {
    this.#delimiter = Buffer.from(`\r\n--${boundaryIn(contentType)}`);
    this.#maxParts = maxParts;
    this.#open = open;
  }

  async take(bytes: Uint8Array): Promise<void> {
    if (this.#state === 'content' && (await this.#pass(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)))) {
      return freeBytes(bytes);
    }
    const joined = Buffer.concat([this.#rest, bytes]);
    freeBytes(bytes);
    this.#rest = joined;
    while (await this.#step[this.#state]());
    this.#rest = Buffer.from(this.#rest);
    freeBytes(joined);
  }

  end(): void {
    if (this.#state !== 'epilogue') throw brokenForm('it ends too early');
  }

  /** Each step consumes one element of the rest. It returns false if more bytes are needed. */
  readonly #step: Readonly<Record<State, () => boolean | Promise<boolean>>> = {
    preamble: () => {
      const at = this.#rest.indexOf(this.#delimiter);
      this.#skip(at < 0 ? this.#safeLength : at);
      if (at >= 0) this.#enter('delimiter', this.#delimiter.length);
      return at >= 0;
    },
    delimiter: () => {
      if (this.#rest.subarray(0, 2).equals(Buffer.from('--'))) return this.#enter('epilogue', 2);
      const line = this.#rest.indexOf('\r\n');
      const padding = this.#rest.toString('latin1', 0, line < 0 ? undefined : line);
      const isPadding = line < 0 ? /^(?:-?|[ \t]*\r?)$/ : /^[ \t]*$/;
      if (!isPadding.test(padding) || padding.length > maxHeadBytes) {
        throw brokenForm('there is text after a boundary');
      }
      // The line break stays: without headers it is also their end.
      return line >= 0 && this.#enter('head', line);
    },
    head: async () => {
      const end = this.#rest.indexOf('\r\n\r\n');
      const head = this.#rest.subarray(0, end < 0 ? undefined : end + 2);
      if (head.length > maxHeadBytes || head.includes(this.#delimiter))
        throw brokenForm('the headers of a part do not end');
      if (end < 0) return false;
      if (++this.#parts > this.#maxParts) {
        throw new ParleyError('invalid_request', `A form may have at most ${this.#maxParts} parts.`);
      }
      this.#sink = await this.#open(readPartHead(head));
      return this.#enter('content', end + 4);
    },
    content: async () => {
      // In an empty part the line break of the headers starts the delimiter.
      const at = this.#rest.indexOf(this.#delimiter);
      const length = at < 0 ? this.#safeLength : at;
      if (length > 0) await this.#sink?.write(this.#rest.subarray(0, length));
      this.#rest = this.#rest.subarray(length);
      if (at < 0) return false;
      await this.#sink?.end();
      return this.#enter('delimiter', this.#delimiter.length);
    },
    epilogue: () => {
      this.#skip(this.#rest.length);
      return false;
    },
  };

  /**
   * Passes bytes without a delimiter straight to the sink. Nearly all bytes of a large file are such, and joining them with
   * the rest was half the cost of reading a form. Returns false, and does nothing, if there may be a delimiter.
   */
  async #pass(bytes: Buffer): Promise<boolean> {
    const overlap = this.#delimiter.length - 1;
    const seam = Buffer.concat([this.#rest, bytes.subarray(0, overlap)]);
    if (bytes.length <= overlap || seam.includes(this.#delimiter) || bytes.includes(this.#delimiter)) return false;
    await this.#sink?.write(this.#rest);
    await this.#sink?.write(bytes.subarray(0, -overlap));
    this.#rest = Buffer.from(bytes.subarray(-overlap));
    return true;
  }

  /** The length of the rest that cannot contain the start of a delimiter. */
  get #safeLength(): number {
    return Math.max(0, this.#rest.length - this.#delimiter.length + 1);
  }

  #enter(state: State, consumed: number): true {
    this.#state = state;
    this.#rest = this.#rest.subarray(consumed);
    return true;
  }

  #skip(length: number): void {
    this.#around += length;
    if (this.#around > maxAroundBytes) throw brokenForm('a boundary is missing');
    this.#rest = this.#rest.subarray(length);
  }
}

function boundaryIn(contentType: string): string {
  const [, quoted, word] = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType) ?? [];
  const boundary = quoted || word;
  if (boundary === undefined || boundary.length > 250) throw brokenForm('Content-Type names no boundary');
  return boundary;
}
