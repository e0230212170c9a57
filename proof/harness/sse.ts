/** One block of an event stream, as it ended with an empty line. */
export interface Block {
  /** Given where the block itself has one. */
  readonly id: string | undefined;
  readonly event: string;
  /** Undefined where it has none: such a block only moves the cursor. */
  readonly data: string | undefined;
}

/**
 * Takes an event stream apart by the rules of the HTML standard, and shares no code with the client that is shipped. What a
 * broken connection leaves half done is dropped, its id included.
 */
export class SseParser {
  readonly #take: (block: Block) => void;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #rest = '';
  #id: string | undefined;
  #event = '';
  #data: string[] = [];
  #hasFields = false;

  constructor(take: (block: Block) => void) {
    this.#take = take;
  }

  push(bytes: Uint8Array): void {
    const text = this.#rest + this.#decoder.decode(bytes, { stream: true });
    // A carriage return at the end may be half of a line break.
    const whole = text.endsWith('\r') ? text.slice(0, -1) : text;
    const lines = whole.split(/\r\n|\n|\r/);
    this.#rest = (lines.pop() ?? '') + text.slice(whole.length);
    for (const line of lines) this.#line(line);
  }

  #line(line: string): void {
    if (line === '') {
      this.#end();
      return;
    }
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    this.#hasFields ||= name !== '';
    if (name === 'id' && !value.includes('\0')) this.#id = value;
    if (name === 'event') this.#event = value;
    if (name === 'data') this.#data.push(value);
  }

  #end(): void {
    const data = this.#data.length > 0 ? this.#data.join('\n') : undefined;
    if (this.#hasFields) this.#take({ id: this.#id, event: this.#event, data });
    this.#id = undefined;
    this.#event = '';
    this.#data = [];
    this.#hasFields = false;
  }
}
