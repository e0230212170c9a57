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
  token: { value: 'token', summary: 'The access token. Overrides PARLEY_TOKEN and the saved login.', read: text },
} as const satisfies Record<string, ValueOption<string>>;

export const quiet: Flag = { summary: 'Show no progress.' };

/** A note for the help of commands that open the database. */
export const worksOffline = 'It opens the database directly, also while the server runs.';
