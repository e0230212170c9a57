import { bytesText } from './bytes.ts';
import type { Output } from './context.ts';

const redrawMs = 100;
/** The speed is that of the last seconds: it is what the time left follows from. */
const speedMs = 5_000;
/** By the columns of the terminal: of one width at a time, so that it does not jump about beside numbers that grow. */
const barWidth = (columns: number) => (columns < 100 ? 10 : 30);

export interface Progress {
  readonly done: number;
  readonly total: number;
  /** Bytes a second, once that is known. */
  readonly speed: number | undefined;
}

/** Shows on a terminal how far a transfer is, in one line that is drawn over again. */
export class ProgressBar {
  readonly #terminal: Output;
  readonly #verb: string;
  readonly #speed = new Speed();
  #drawnAt = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  constructor(terminal: Output, verb: string) {
    this.#terminal = terminal;
    this.#verb = verb;
  }

  show(done: number, total: number): void {
    const now = performance.now();
    const speed = this.#speed.at(now, done);
    if (now - this.#drawnAt < redrawMs) return;
    this.#drawnAt = now;
    this.#isDrawn = true;
    const line = progressLine(this.#verb, { done, total, speed }, this.#terminal.columns || 80);
    this.#terminal.write(`\r${line}\x1b[K`);
  }

  /** To be called before anything else is written: the next progress draws the line anew, below. */
  erase(): void {
    if (this.#isDrawn) this.#terminal.write('\r\x1b[K');
    this.#isDrawn = false;
    this.#drawnAt = Number.NEGATIVE_INFINITY;
  }
}

/** Tells the speed from what was done when. */
export class Speed {
  #samples: { readonly at: number; readonly done: number }[] = [];

  at(now: number, done: number): number | undefined {
    // What begins anew has no speed yet.
    if (done < (this.#samples.at(-1)?.done ?? 0)) this.#samples = [];
    this.#samples.push({ at: now, done });
    while ((this.#samples[1]?.at ?? now) <= now - speedMs) this.#samples.shift();
    const [first = { at: now, done }] = this.#samples;
    return now > first.at ? ((done - first.done) * 1_000) / (now - first.at) : undefined;
  }
}

/** One line that fits into so many columns; the bar gives way first. */
export function progressLine(verb: string, { done, total, speed }: Progress, columns: number): string {
  const share = total === 0 ? 1 : done / total;
  const percent = `${verb} ${String(Math.floor(share * 100)).padStart(3)}%`;
  const width = barWidth(columns);
  const bar = `[${'#'.repeat(Math.floor(share * width)).padEnd(width, '.')}]`;
  const amount = `${bytesText(done)} of ${bytesText(total)}`;
  const pace = speed ? [`${bytesText(speed)}/s`, `${timeText((total - done) / speed)} left`] : [];
  const lines = [[percent, bar, amount, ...pace], [percent, amount, ...pace], [percent, amount], [percent]];
  // A line that fills its last column would go on in the next one on some terminals.
  const fitting = lines.map((parts) => parts.join('  ')).find((line) => line.length < columns);
  return fitting ?? percent.slice(0, columns - 1);
}

/** `0:08`, `1:02:03`. */
function timeText(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60];
  const two = (n: number) => String(n).padStart(2, '0');
  return `${hours === 0 ? minutes : `${hours}:${two(minutes)}`}:${two(whole % 60)}`;
}
