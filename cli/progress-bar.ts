import { bytesText } from './bytes.ts';
import type { Clock, Output } from './context.ts';

const redrawMs = 100;
/** The speed, and the time left, are those of the last seconds. */
const speedWindowMs = 5_000;
/** A fixed width, so that the bar does not jump beside growing numbers. */
const barWidth = (columns: number) => (columns < 100 ? 10 : 30);

/** Returns an amount as text. */
export type AmountText = (amount: number) => string;

/** Shows the progress of a transfer in one line of a terminal, which it redraws. */
export function progressBar(terminal: Output, verb: string, clock: Clock, text: AmountText = bytesText) {
  const speedAt = speedMeter();
  let drawnAt: number | undefined;
  return {
    show: (done: number, total: number): void => {
      const now = clock.now();
      const speed = speedAt(now, done);
      if (drawnAt !== undefined && now - drawnAt < redrawMs) return;
      drawnAt = now;
      terminal.write(`\r${progressLine(verb, { done, total, speed }, terminal.columns || 80, text)}\x1b[K`);
    },
    /** Call it before writing anything else. The next progress draws the line again. */
    erase: (): void => {
      if (drawnAt !== undefined) terminal.write('\r\x1b[K');
      drawnAt = undefined;
    },
  };
}

/** Returns a function that takes the time and the bytes done, and returns the speed of the last seconds. */
export function speedMeter(): (now: number, done: number) => number | undefined {
  let samples: { readonly at: number; readonly done: number }[] = [];
  return (now, done) => {
    // A transfer that starts over has no speed yet.
    if (done < (samples.at(-1)?.done ?? 0)) samples = [];
    samples.push({ at: now, done });
    while ((samples[1]?.at ?? now) <= now - speedWindowMs) samples.shift();
    const [first = { at: now, done }] = samples;
    return now > first.at ? ((done - first.done) * 1_000) / (now - first.at) : undefined;
  };
}

/** Returns a line that is shorter than `columns`. A narrow terminal loses the bar first. */
export function progressLine(
  verb: string,
  { done, total, speed }: { done: number; total: number; speed: number | undefined },
  columns: number,
  text: AmountText = bytesText,
): string {
  const share = total === 0 ? 1 : done / total;
  const percent = `${verb} ${String(Math.floor(share * 100)).padStart(3)}%`;
  const width = barWidth(columns);
  const bar = `[${'#'.repeat(Math.floor(share * width)).padEnd(width, '.')}]`;
  const amount = `${text(done)} of ${text(total)}`;
  const pace = speed ? [`${text(speed)}/s`, `${timeText((total - done) / speed)} left`] : [];
  const lines = [[percent, bar, amount, ...pace], [percent, amount, ...pace], [percent, amount], [percent]];
  // Some terminals wrap a line that fills the last column.
  const fitting = lines.map((parts) => parts.join('  ')).find((line) => line.length < columns);
  return fitting ?? percent.slice(0, columns - 1);
}

/** Returns `0:08` or `1:02:03`. */
function timeText(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60];
  const two = (n: number) => String(n).padStart(2, '0');
  return `${hours === 0 ? minutes : `${hours}:${two(minutes)}`}:${two(whole % 60)}`;
}
