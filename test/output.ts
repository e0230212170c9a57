/** A test that failed, or a file that broke before its tests could end. */
export interface Failure {
  readonly file: string;
  readonly test: string;
}

/** A terminal, whose last line can be rewritten, or plain text. */
export interface Screen {
  readonly write: (text: string) => void;
  /** Returns the width of the terminal, or undefined if there is none. */
  readonly columns: () => number | undefined;
  readonly hasColours: boolean;
  readonly now: () => number;
}

const header = /^(\S+\.test\.ts):$/;
const result = /^\((pass|fail|skip|todo)\) (.*?)(?: \[[\d.]+m?s\])?$/;
const crash = /^✗ (\S+\.test\.ts) \((.*)\)$/;
const brokenFile = '# Unhandled error between tests';
/** The runner's own summary, which ours replaces. */
const recap = /^(?:\d+ tests? (?:failed|skipped|todo):| \d+ pass)$/;
const time = / \[[\d.]+m?s\]$/;

/** A name that was made from an object, or from a text with line breaks, takes several lines. It may end in such a line. */
const nameEnd = (begun: string): RegExp | undefined =>
  time.test(begun) ? undefined : /[{[]$/.test(begun) ? /^[}\]]/ : time;

const greeting = /^bun test v\S+ /;

const bold = '\x1b[1m';
const red = '\x1b[31m';

/** A terminal is written to no more often than this. */
const repaintMs = 100;
/** Elsewhere a line tells now and then how far the run is, so that nobody takes it for dead. */
const reportMs = 30_000;

/**
 * Reads what the test runner prints, line by line. It passes on how tests fail and what they print, each under the name of
 * its file, and counts the rest.
 */
export class Output {
  readonly failures: Failure[] = [];
  readonly #screen: Screen;
  readonly #files: number;
  readonly #startedAt: number;
  readonly #begun = new Set<string>();
  #passed = 0;
  #file = '';
  /** The file under whose name text was printed last. */
  #named = '';
  #held: string[] = [];
  /** The last line of a name that may take several lines. */
  #endsName: RegExp | undefined;
  #isOver = false;
  #paintedAt = 0;
  #isPainted = false;

  constructor(screen: Screen, files: number) {
    this.#screen = screen;
    this.#files = files;
    this.#startedAt = screen.now();
    this.#paintedAt = this.#startedAt;
  }

  line(text: string): void {
    if (this.#isOver || greeting.test(text)) return;
    const file = header.exec(text)?.[1];
    if (file !== undefined) this.#enter(file);
    else if (recap.test(text)) this.end();
    else this.#read(text);
    this.tick();
  }

  #read(text: string): void {
    if (this.#endsName?.test(text) && !result.test(text)) {
      this.#held = [];
      this.#endsName = undefined;
      return;
    }
    const crashed = crash.exec(text);
    if (crashed) this.#fail(`(${crashed[2]})`);
    if (text === brokenFile) this.#fail('(outside of its tests)');
    const [, outcome, test = ''] = result.exec(text) ?? [];
    if (outcome === 'pass') this.#passed++;
    if (outcome === 'fail') this.#fail(test);
    if (outcome === undefined || outcome === 'fail') this.#held.push(text);
    if (outcome === undefined) return;
    this.#flush();
    this.#endsName = outcome === 'fail' ? undefined : nameEnd(text);
  }

  /** Says how far the run is, if it is time for that. */
  tick(): void {
    const columns = this.#screen.columns();
    const now = this.#screen.now();
    if (this.#isOver || now - this.#paintedAt < (columns === undefined ? reportMs : repaintMs)) return;
    this.#paintedAt = now;
    const seconds = Math.floor((now - this.#startedAt) / 1_000);
    const elapsed = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    const counts = `${this.#passed} passed, ${this.failures.length} failed`;
    const status = `${elapsed}  file ${this.#begun.size} of ${this.#files}  ${counts}`;
    this.#wipe();
    this.#screen.write(columns === undefined ? `${status}\n` : `${status}  ${this.#file}`.slice(0, columns - 1));
    this.#isPainted = columns !== undefined;
  }

  /** The runner has come to its end: what is held is shown, and nothing after it. */
  end(): void {
    this.#flush();
    this.#wipe();
    this.#isOver = true;
  }

  #enter(file: string): void {
    this.#flush();
    this.#endsName = undefined;
    this.#file = file;
    this.#begun.add(file);
  }

  #fail(test: string): void {
    this.failures.push({ file: this.#file, test });
  }

  #flush(): void {
    const held = this.#held.join('\n').replace(/^\s*\n|\s+$/g, '');
    this.#held = [];
    if (held === '') return;
    this.#wipe();
    if (this.#named !== this.#file) this.#screen.write(`\n${this.#coloured(bold, `${this.#file}:`)}\n`);
    this.#named = this.#file;
    this.#screen.write(`${held.replace(/^(?:\(fail\)|✗) .*$/gm, (line) => this.#coloured(red, line))}\n`);
  }

  #coloured(code: string, text: string): string {
    return this.#screen.hasColours ? `${code}${text}\x1b[0m` : text;
  }

  /** Takes the line that says how far the run is off the terminal. */
  #wipe(): void {
    if (this.#isPainted) this.#screen.write('\r\x1b[2K');
    this.#isPainted = false;
  }
}
