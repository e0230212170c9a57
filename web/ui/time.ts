import { text } from '../text/text.ts';

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: 'short' });
const dayOfYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const date = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
const longDay = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });
const longDate = new Intl.DateTimeFormat(undefined, {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
});
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'short' });

const dayMs = 24 * 3_600_000;

const startOfDay = (at: Date): number => new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime();
const daysAgo = (at: Date, now: Date): number => Math.round((startOfDay(now) - startOfDay(at)) / dayMs);

/** What stands for the two halves of a day, where the reader is. */
const halves = [new Date(2_000, 0, 1, 3), new Date(2_000, 0, 1, 15)].flatMap((at) =>
  clock.formatToParts(at).flatMap(({ type, value }) => (type === 'dayPeriod' ? value : [])),
);

/** Returns the time. A narrow one has no AM or PM. */
export function timeOfDay(at: string, isNarrow = false): string {
  const time = clock.format(new Date(at));
  // Parts of a format take several times as long, and every row of the message list needs this.
  return isNarrow ? halves.reduce((rest, half) => rest.replace(half, ''), time).trim() : time;
}

export const fullTime = (at: string): string => full.format(new Date(at));

/** The day of the last key. That of the next one is mostly the same. */
let lastDay = { start: 0, end: 0 };

/** Returns a key that is the same for all times of one day, where the reader is. */
export function dayKey(at: string): number {
  const time = Date.parse(at);
  if (time < lastDay.start || time >= lastDay.end) {
    const day = new Date(time);
    const next = new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1);
    lastDay = { start: startOfDay(day), end: next.getTime() };
  }
  return lastDay.start;
}

/** Returns the name of a day as a heading. */
export function dayName(at: string, now = new Date()): string {
  const then = new Date(at);
  const ago = daysAgo(then, now);
  if (ago === 0) return text.time.today;
  if (ago === 1) return text.time.yesterday;
  return (then.getFullYear() === now.getFullYear() ? longDay : longDate).format(then);
}

/** Returns a time for a narrow column: the shorter, the more recent. */
export function shortTime(at: string, now = new Date()): string {
  const then = new Date(at);
  const ago = daysAgo(then, now);
  if (ago === 0) return clock.format(then);
  if (ago === 1) return text.time.yesterday;
  if (ago < 7) return weekday.format(then);
  return (then.getFullYear() === now.getFullYear() ? dayOfYear : date).format(then);
}

/** Returns the start of a day that a field of a form has, where the reader is, or undefined if it is none. */
export function startOf(day: string): number | undefined {
  const [, year, month, date] = /^(\d{4,6})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  return year === undefined ? undefined : new Date(Number(year), Number(month) - 1, Number(date)).getTime();
}

/** Returns this day as a field of a form has it. */
export function today(now = new Date()): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}
