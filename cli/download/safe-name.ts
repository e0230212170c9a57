import { dangerous } from '../output.ts';

/** The limit of nearly all file systems, less the length of `.part`. */
const maxBytes = 250;

const bytesOf = (text: string) => Buffer.byteLength(text);

/**
 * Returns a foreign file name that is safe to use here: it has no path and no terminal escapes, and it is not hidden, because
 * programs read their settings from hidden files.
 */
export function safeName(given: string, fallback: string): string {
  const last = given.split(/[/\\]/).at(-1) ?? '';
  const plain = last.toWellFormed().replace(dangerous, '_').trim();
  if (/^\.*$/.test(plain)) return fallback;
  return shorten(plain.replace(/^\./, '_'));
}

/** Keeps the extension, which tells programs the type of a file. */
function shorten(name: string): string {
  if (bytesOf(name) <= maxBytes) return name;
  const [extension = ''] = /\.[^.]{1,16}$/u.exec(name) ?? [];
  const stem = [...name.slice(0, name.length - extension.length)];
  while (bytesOf(stem.join('')) > maxBytes - bytesOf(extension)) stem.pop();
  return `${stem.join('')}${extension}`;
}
