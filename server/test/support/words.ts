import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const options = { deadCodeElimination: false };
const transpilers = {
  ts: new Bun.Transpiler({ loader: 'ts', ...options }),
  tsx: new Bun.Transpiler({ loader: 'tsx', ...options }),
};

/** The values of properties that people read or hear. */
const spoken =
  /(?:^\s*|[{,] )"?(?:aria-(?:label|description|roledescription|valuetext|placeholder)|title|placeholder|alt|label|children)"?: (.*?)(?=, "?[\w-]+"?: |$)/g;
const literal = /"(?:[^"\\]|\\.)*"|`[^`]*`/g;
/** Names of elements and of their looks, links, what something is compared with, and errors that nobody is shown. */
const unspoken =
  /jsx\w*\("[^"]*"|\b(?:class|href): (?:"[^"]*"|`[^`]*`)|[!=]== "[^"]*"|new (?:Error|TransportError|DOMException)\(.*/g;
const inserted = /\$\{[^}]*\}/g;
/** A sentence, a part of one, or a word with a capital letter. */
const sentence = /^["`](?:\p{Lu}(?:\p{Ll}|\p{Lu}* \p{Ll}{2})|\p{Ll}+ \p{L}+ \p{L})/u;
/** A word with a capital letter that is the key of a property, such as the label of a column. */
const key = /(?:^\s*|[{,] )(\p{Lu}\p{Ll}+)(?=: )/gu;

/** Names of the product, of errors, of what is dragged, of what a browser has, of its keys, of headers, of relations, and of languages and their words. */
const names: ReadonlySet<string> = new Set([
  ...['Parley', 'ApiError', 'TransportError', 'AbortError', 'Files', 'Notification', 'PushManager'],
  ...['Home', 'End', 'Content-Type', 'Bearer $' + '{token}', 'noopener noreferrer nofollow'],
  ...['TypeScript', 'Python', 'True', 'False', 'None'],
]);

/** Returns the words for people in the source of a file, besides the text between tags: Biome finds that. */
export function wordsIn(source: string, kind: keyof typeof transpilers): string[] {
  const lines = transpilers[kind].transformSync(source).replace(unspoken, '').split('\n');
  return lines.flatMap((line) => {
    const values = [...line.matchAll(spoken)].flatMap(([, value = '']) => value.match(literal) ?? []);
    const shown = values.filter((value) => /\p{L}/u.test(value.replace(inserted, '')));
    const sentences = (line.match(literal) ?? []).filter((one) => sentence.test(one.replace(inserted, '')));
    const keys = [...line.matchAll(key)].map(([, word = '']) => `"${word}"`);
    return [...new Set([...shown, ...sentences, ...keys])].filter((one) => !names.has(one.slice(1, -1)));
  });
}

/** Returns the words for people in files, each after the name of its file. */
export const wordsOfFiles = (root: string, files: readonly string[]): string[] =>
  files.flatMap((file) =>
    wordsIn(readFileSync(join(root, file), 'utf8'), file.endsWith('x') ? 'tsx' : 'ts').map(
      (words) => `${file}: ${words}`,
    ),
  );
