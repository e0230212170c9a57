import type { Flag, Read, ValueOption } from './command.ts';

export const text: Read<string> = (typed) => typed;

const integerFrom =
  (least: number): Read<number> =>
  (typed) => {
    const number = Number(typed);
    if (!/^\d+$/.test(typed) || number < least || !Number.isSafeInteger(number)) {
      throw new Error(`a whole number from ${least}`);
    }
    return number;
  };

/** An id, or a number of things. */
export const positive: Read<number> = integerFrom(1);

/** An id to start after: 0 is before all of them. */
export const cursor: Read<number> = integerFrom(0);

export const list: Read<string[]> = (typed) => {
  const words = typed.split(',').map((word) => word.trim());
  if (words.includes('')) throw new Error('a list such as a,b');
  return words;
};

/** Where a webhook could lead: no credentials, and no fragment, which would never be sent. */
export const httpAddress: Read<URL> = (typed) => {
  const url = URL.canParse(typed) ? new URL(typed) : undefined;
  // A hash sign with nothing behind it is a fragment too, though `hash` says that there is none.
  const isPlain = url && !url.username && !url.password && !url.href.includes('#');
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    throw new Error('an address such as http://localhost:3000/hook');
  }
  return url;
};

/** The options that mean the same wherever they stand. */
export const json: Flag = { summary: 'Print JSON in one line.' };

export const connection = {
  url: { value: 'address', summary: "The server's address, in place of PARLEY_URL.", read: text },
  token: { value: 'token', summary: 'The access token, in place of PARLEY_TOKEN or what login kept.', read: text },
} as const satisfies Record<string, ValueOption<string>>;

/** Of the commands that move files. */
export const quiet: Flag = { summary: 'Show no progress.' };
