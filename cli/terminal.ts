import type { Environment } from './context.ts';

/**
 * Characters that could make a terminal do or show something other than the text: control characters (the escape
 * sequences of ESC and of U+009B among them), line separators, and those that turn the direction of what follows.
 * Scripts that run right to left need none of these, and emoji keep the joiners that they are made with.
 */
const dangerous = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

const visible = (character: string) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/** One line of what somebody else wrote, safe to print: what is dangerous is shown and not obeyed. */
export const oneLine = (text: string): string => text.replace(dangerous, visible);

/** The same for a text of several lines. */
export const lines = (text: string): string[] =>
  text.split(/\r?\n/).map((line) => oneLine(line.replaceAll('\t', '    ')));

/** The same value in one line of JSON, which by itself leaves U+007F to U+009F as they are. */
export const jsonLine = (value: unknown): string =>
  JSON.stringify(value).replace(dangerous, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** `2026-01-01 13:00`, in the time zone of whoever reads it. */
export const localTime = (iso: string, env: Environment): string => formatIn(env.TZ).format(new Date(iso));

/** Of a zone that only the system knows the rules of, it is the zone of the process. */
function formatIn(timeZone: string | undefined): Intl.DateTimeFormat {
  const format = { dateStyle: 'short', timeStyle: 'short', hourCycle: 'h23' } as const;
  try {
    return new Intl.DateTimeFormat('sv', { ...format, ...(timeZone && { timeZone }) });
  } catch (error) {
    if (error instanceof RangeError) return new Intl.DateTimeFormat('sv', format);
    throw error;
  }
}
