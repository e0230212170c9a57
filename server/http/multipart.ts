import { ParleyError } from '@parley/contract';
import { freeBytes } from '../domain/free-bytes.ts';
import { brokenForm, type PartHead, readPartHead } from './part-head.ts';

export type { PartHead } from './part-head.ts';

/** Where the bytes of one part go. They are its own only until it has answered. */
export interface PartSink {
  write(bytes: Uint8Array): Promise<void> | void;
  end(): Promise<void> | void;
}

/** What the headers of a part may have, and what may stand before the first part and after the last one. */
const mostHead = 16_384;
const mostAround = 65_536;

/** Reads a form part by part, in the order in which they come, and no faster than the sinks take them. */
export async function readMultipart(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
  open: (part: PartHead) => Promise<PartSink>,
  mostParts: number,
): Promise<void> {
  const form = new Form(contentType, mostParts, open);
  for await (const bytes of body) {
    await form.take(bytes);
  }
  form.end();
}

/** What is read at the moment. */
type Place = 'preamble' | 'delimiter' | 'head' | 'content' | 'epilogue';

class Form {
  readonly #delimiter: Buffer;
  readonly #mostParts: number;
  readonly #open: (part: PartHead) => Promise<PartSink>;
  #place: Place = 'preamble';
  #sink: PartSink | undefined;
  #parts = 0;
  #around = 0;
  /** What has come and cannot be told yet; at first what the first delimiter lacks. */
  #rest: Buffer = Buffer.from('\r\n');

  constructor(contentType: string, mostParts: number, open: (part: PartHead) => Promise<PartSink>) {
    this.#delimiter = Buffer.from(`\r\n--${boundaryIn(contentType)}`);
    this.#mostParts = mostParts;
    this.#open = open;
  }

  async take(bytes: Uint8Array): Promise<void> {
    if (this.#place === 'content' && (await this.#pass(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)))) {
      return freeBytes(bytes);
    }
    const joined = Buffer.concat([this.#rest, bytes]);
    freeBytes(bytes);
    this.#rest = joined;
    while (await this.#step[this.#place]());
    this.#rest = Buffer.from(this.#rest);
    freeBytes(joined);
  }

  end(): void {
    if (this.#place !== 'epilogue') throw brokenForm('it breaks off');
  }

  /** Each reads one thing out of what has come; answers whether it was all there. */
  readonly #step: Readonly<Record<Place, () => boolean | Promise<boolean>>> = {
    preamble: () => {
      const at = this.#rest.indexOf(this.#delimiter);
      this.#leave(at < 0 ? this.#surelyNoDelimiter : at);
      if (at >= 0) this.#go('delimiter', this.#delimiter.length);
      return at >= 0;
    },
    delimiter: () => {
      if (this.#rest.subarray(0, 2).equals(Buffer.from('--'))) return this.#go('epilogue', 2);
      const line = this.#rest.indexOf('\r\n');
      const padding = this.#rest.toString('latin1', 0, line < 0 ? undefined : line);
      const isPadding = line < 0 ? /^(?:-?|[ \t]*\r?)$/ : /^[ \t]*$/;
      if (!isPadding.test(padding) || padding.length > mostHead) {
        throw brokenForm('something stands behind a boundary');
      }
      // The end of the line is left: where there are no headers, it is also the end of them.
      return line >= 0 && this.#go('head', line);
    },
    head: async () => {
      const end = this.#rest.indexOf('\r\n\r\n');
      const head = this.#rest.subarray(0, end < 0 ? undefined : end + 2);
      if (head.length > mostHead || head.includes(this.#delimiter))
        throw brokenForm('the headers of a part do not end');
      if (end < 0) return false;
      if (++this.#parts > this.#mostParts) {
        throw new ParleyError('invalid_request', `A form may have at most ${this.#mostParts} parts.`);
      }
      this.#sink = await this.#open(readPartHead(head));
      return this.#go('content', end + 4);
    },
    content: async () => {
      // An empty part has its delimiter right behind the headers, whose end is the beginning of it.
      const at = this.#rest.indexOf(this.#delimiter);
      const length = at < 0 ? this.#surelyNoDelimiter : at;
      if (length > 0) await this.#sink?.write(this.#rest.subarray(0, length));
      this.#rest = this.#rest.subarray(length);
      if (at < 0) return false;
      await this.#sink?.end();
      return this.#go('delimiter', this.#delimiter.length);
    },
    epilogue: () => {
      this.#leave(this.#rest.length);
      return false;
    },
  };

  /**
   * Nearly all bytes of a large file come in pieces without a delimiter. They go on as they are: to join them with the rest
   * first is half of what reading a form costs. Answers false where there may be one, and has then done nothing.
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

  /** As much of the rest as no delimiter can begin in. */
  get #surelyNoDelimiter(): number {
    return Math.max(0, this.#rest.length - this.#delimiter.length + 1);
  }

  #go(place: Place, behind: number): true {
    this.#place = place;
    this.#rest = this.#rest.subarray(behind);
    return true;
  }

  #leave(length: number): void {
    this.#around += length;
    if (this.#around > mostAround) throw brokenForm('there is no boundary where one should be');
    this.#rest = this.#rest.subarray(length);
  }
}

function boundaryIn(contentType: string): string {
  const [, quoted, word] = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType) ?? [];
  const boundary = quoted || word;
  if (boundary === undefined || boundary.length > 250) throw brokenForm('Content-Type names no boundary');
  return boundary;
}
