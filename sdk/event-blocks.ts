/** What stands between two empty lines of a stream of server-sent events. */
export interface Block {
  readonly id: string | undefined;
  /** Undefined: the block tells nothing but where in the log the stream is. */
  readonly data: string | undefined;
  readonly retry: number | undefined;
}

/** Characters of one line; a longer one is none of Parley's. */
const longestLine = 16 * 1_024 * 1_024;

type Fields = { -readonly [K in keyof Block]: Block[K] };

const readers: Readonly<Record<string, (block: Fields, value: string) => void>> = {
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

/** Cuts the text of a stream into blocks, in whatever pieces it arrives. The names of events stand in the data too. */
export class BlockCutter {
  #rest = '';
  #block: Fields = { ...empty };

  /** The blocks that the text completes. */
  cut(text: string): Block[] {
    // A carriage return at the very end may be the first half of a line's end.
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > longestLine) throw new RangeError('A line has no end.');
    return lines.flatMap((line) => this.#take(line) ?? []);
  }

  #take(line: string): Block | undefined {
    if (line !== '') {
      const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (Object.hasOwn(readers, name)) readers[name]?.(this.#block, value);
      return undefined;
    }
    const block = this.#block;
    this.#block = { ...empty };
    return Object.values(block).some((field) => field !== undefined) ? block : undefined;
  }
}
