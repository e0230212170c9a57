/** Bytes in the name of a file at most, as nearly all file systems have it, less those of `.part`. */
const mostBytes = 250;

const bytesOf = (text: string) => Buffer.byteLength(text);

/**
 * The name that somebody else gave a file, made safe to have here: no path, nothing that a terminal obeys, and not hidden, for
 * programs read their settings from such files.
 */
export function safeName(given: string, otherwise: string): string {
  const last = given.split(/[/\\]/).at(-1) ?? '';
  const plain = last
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '_')
    .trim();
  if (/^\.*$/.test(plain)) return otherwise;
  return shorten(plain.replace(/^\./, '_'));
}

/** Keeps the ending, by which programs know what a file is. */
function shorten(name: string): string {
  if (bytesOf(name) <= mostBytes) return name;
  const [ending = ''] = /\.[^.]{1,16}$/u.exec(name) ?? [];
  const stem = [...name.slice(0, name.length - ending.length)];
  while (bytesOf(stem.join('')) > mostBytes - bytesOf(ending)) stem.pop();
  return `${stem.join('')}${ending}`;
}
