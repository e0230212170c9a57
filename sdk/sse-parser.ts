/** One block of a server-sent event stream: the fields between two empty lines. */
export interface Block {
  readonly id: string | undefined;
  /** Undefined if the block only reports the cursor of the stream. */
  readonly data: string | undefined;
  readonly retry: number | undefined;
}

/** In characters. Parley never sends a longer line. */
const maxLineLength = 16 * 1_024 * 1_024;

type Fields = { -readonly [K in keyof Block]: Block[K] };

const fieldReaders: Readonly<Record<string, (block: Fields, value: string) => void>> = {
  id: (block, value) => {
    if (!value.includes('\0')) block.id = value;
  },
  data: (block, value) => {
    block.data = block.data === undefined ? value : `${block.data}\n${value}`;
  },
  retry: (block, value) => {
    if (/^\d{1,15}$/.test(value)) block.retry = Number(value);
  },
};

const empty: Block = { id: undefined, data: undefined, retry: undefined };

/** Parses a stream of server-sent events, whatever chunks it arrives in. Ignores `event`: the data holds the name too. */
export class SseParser {
  #rest = '';
  #block: Fields = { ...empty };

  /** Returns the blocks that the text completes. Throws `RangeError` if a line is too long. */
  push(text: string): Block[] {
    // A carriage return at the very end may be half of a line break.
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > maxLineLength) throw new RangeError('A line is too long.');
    return lines.flatMap((line) => this.#takeLine(line) ?? []);
  }

  #takeLine(line: string): Block | undefined {
    if (line !== '') {
      const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (Object.hasOwn(fieldReaders, name)) fieldReaders[name]?.(this.#block, value);
      return undefined;
    }
    const block = this.#block;
    this.#block = { ...empty };
    return Object.values(block).some((field) => field !== undefined) ? block : undefined;
  }
}
