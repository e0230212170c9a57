/** @jsxImportSource hono/jsx */
import { createContext, useContext } from 'hono/jsx';
import { text } from './text/text.ts';

/** The time zone of the user's profile. The server knows no other: pages have no script that could tell that of the browser. */
export const TimeZone = createContext<string | null | undefined>(undefined);

/** A time in the time zone of the user, or in UTC. */
export function Time({ at }: { at: number | null }) {
  const zone = useContext(TimeZone);
  if (at === null) return <span class="muted">{text.common.never}</span>;
  return <time datetime={new Date(at).toISOString()}>{timeInWords(at, zone)}</time>;
}

export function timeInWords(at: number, zone?: string | null): string {
  const iso = new Date(at).toISOString();
  if (!zone) return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
  const format = (locale: string, options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { timeZone: zone, ...options });
  // The Swedish format is that of ISO 8601.
  const local = format('sv-SE', { dateStyle: 'short', timeStyle: 'short' }).format(at);
  const parts = format(text.language, { timeZoneName: 'short' }).formatToParts(at);
  return `${local} ${parts.find(({ type }) => type === 'timeZoneName')?.value ?? zone}`;
}
