import type { Flag, Read, ValueOption } from './command.ts';

export const text: Read<string> = (typed) => typed;

const integerFrom =
  (min: number): Read<number> =>
  (typed) => {
    const number = Number(typed);
    if (!/^\d+$/.test(typed) || number < min || !Number.isSafeInteger(number)) {
      throw new Error(`a whole number from ${min}`);
    }
    return number;
  };

/** An id or a count. */
export const positive: Read<number> = integerFrom(1);

/** An id to start after. 0 is before all ids. */
export const cursor: Read<number> = integerFrom(0);

export const list: Read<string[]> = (typed) => {
  const words = typed.split(',').map((word) => word.trim());
  if (words.includes('')) throw new Error('a list such as a,b');
  return words;
};

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Returns a moment as ISO 8601 in UTC. An age counts from now. A time without an offset is in the zone of the process. */
export const moment: Read<string> = (typed) => {
  const ms = ageMs(typed) ?? timeMs(typed);
  const date = new Date(ms ?? Number.NaN);
  if (!Number.isNaN(date.getTime())) return date.toISOString();
  throw new Error('an age such as 30s, 15m, 2h or 7d, or a time such as 2026-01-31T12:00');
};

function ageMs(typed: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(typed) ?? [];
  return count === undefined ? undefined : Date.now() - Number(count) * (secondsOf[unit] ?? 0) * 1_000;
}

const timePattern = /^(\d{4}-\d\d-\d\d)([T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?(Z|[+-]\d\d:\d\d)?$/;

function timeMs(typed: string): number | undefined {
  const [, day, time = 'T00:00', offset = ''] = timePattern.exec(typed) ?? [];
  if (day === undefined) return undefined;
  const midnight = Date.parse(day);
  // The runtime reads the 31st of February as the 3rd of March.
  const exists = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day);
  return exists ? Date.parse(`${day}${time.replace(' ', 'T')}${offset}`) : undefined;
}

/** A URL that a webhook could have: without credentials and without a fragment, which is never sent. */
export const httpUrl: Read<URL> = (typed) => {
  const url = URL.canParse(typed) ? new URL(typed) : undefined;
  // `hash` is empty for a URL that ends with a bare hash sign.
  const isPlain = url && !url.username && !url.password && !url.href.includes('#');
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    throw new Error('a URL such as http://localhost:3000/hook');
  }
  return url;
};

export const json: Flag = { summary: 'Print one line of JSON.' };

export const connection = {
  url: { value: 'url', summary: 'The server URL. Overrides PARLEY_URL.', read: text },
  profile: { value: 'name', summary: 'The server and login of this profile. Overrides PARLEY_PROFILE.', read: text },
  token: { value: 'token', summary: 'The access token. Overrides PARLEY_TOKEN and the saved login.', read: text },
} as const satisfies Record<string, ValueOption<string>>;

/** For commands that ask before they do what cannot be undone. */
export const yes: Flag = { summary: 'Do not ask for confirmation.' };

export const quiet: Flag = { summary: 'Show no progress.' };

/** A note for the help of commands that open the database. */
export const worksOffline = 'It opens the database directly, also while the server runs.';
