const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const dayAndTime = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** Returns a time with its seconds, and the day if it is not today. */
export function secondsTime(at: string | number, now = new Date()): string {
  const then = new Date(at);
  return (then.toDateString() === now.toDateString() ? clock : dayAndTime).format(then);
}

/** Returns a time in full. */
export const exactTime = (at: string | number): string => full.format(new Date(at));

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** A day, for what lasts for months. */
export const dateOf = (at: string): string => day.format(new Date(at));
