import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileSize } from '../lib/file-size.ts';
import { countsIn } from '../text/counts.ts';
import { text } from '../text/text.ts';

describe('counts', () => {
  test('have the plural of the number', () => {
    expect([0, 1, 2, 21].map(text.common.people)).toEqual(['0 people', '1 person', '2 people', '21 people']);
    expect([1, 8].map(text.chatMenu.muteHours)).toEqual(['Mute for 1 hour', 'Mute for 8 hours']);
  });

  test('have as many forms as the language', () => {
    const { plural } = countsIn('pl');
    const files = { one: '# plik', few: '# pliki', many: '# plików', other: '# pliku' };
    expect([1, 3, 5, 22].map((count) => plural(count, files))).toEqual(['1 plik', '3 pliki', '5 plików', '22 pliki']);
    // A form that is not there is the common one.
    expect(plural(3, { one: '# plik', other: '# pliku' })).toBe('3 pliku');
  });

  test('are written as the language does', () => {
    expect(text.common.people(12_345)).toBe('12,345 people');
    expect(countsIn('de').number(12_345)).toBe('12.345');
    expect([99, 100].map(text.chatList.unreadCount)).toEqual(['99', '99+']);
    expect([0, 1, 1_024, 15_000, 9.6 * 1_024 ** 2, 3 * 1_024 ** 4].map(fileSize)).toEqual([
      ...['0 bytes', '1 byte', '1.0 KB', '15 KB', '9.6 MB', '3,072 GB'],
    ]);
  });
});

const options = { deadCodeElimination: false };
const transpilers = {
  ts: new Bun.Transpiler({ loader: 'ts', ...options }),
  tsx: new Bun.Transpiler({ loader: 'tsx', ...options }),
};

/** The values of properties that people read or hear. */
const spoken =
  /(?:^\s*|[{,] )"?(?:aria-(?:label|description|roledescription|valuetext|placeholder)|title|placeholder|alt|label|children)"?: (.*?)(?=, "?[\w-]+"?: |$)/g;
const literal = /"(?:[^"\\]|\\.)*"|`[^`]*`/g;
/** Names of elements, and what something is compared with. */
const unspoken = /jsx\w*\("[^"]*"|[!=]== "[^"]*"/g;
const inserted = /\$\{[^}]*\}/g;
/** A sentence, or a word with a capital letter. */
const sentence = /^["`]\p{Lu}(?:\p{Ll}|\p{Lu}* \p{Ll}{2})/u;

/** Names of the product, of errors, of what is dragged, of what a browser has, of headers, and of languages and their words. */
const names: ReadonlySet<string> = new Set([
  ...['Parley', 'ApiError', 'TransportError', 'AbortError', 'Files', 'Notification', 'PushManager'],
  ...['Content-Type', 'Bearer $' + '{token}'],
  ...['TypeScript', 'Python', 'True', 'False', 'None'],
]);

/** Returns the words for people in the source of a file, besides the text between tags: Biome finds that. */
function wordsIn(source: string, kind: keyof typeof transpilers): string[] {
  const lines = transpilers[kind].transformSync(source).replace(unspoken, '').split('\n');
  return lines.flatMap((line) => {
    const values = [...line.matchAll(spoken)].flatMap(([, value = '']) => value.match(literal) ?? []);
    const shown = values.filter((value) => /\p{L}/u.test(value.replace(inserted, '')));
    const sentences = (line.match(literal) ?? []).filter(
      (one) => sentence.test(one.replace(inserted, '')) && !names.has(one.slice(1, -1)),
    );
    return [...new Set([...shown, ...sentences])];
  });
}

describe('words', () => {
  const root = join(import.meta.dir, '..');
  const files = [...new Bun.Glob('**/*.{ts,tsx}').scanSync(root)].filter(
    // Snippets are for programs.
    (file) => !/^(?:node_modules|test|text)\/|^build\.ts$|snippets\.ts$/.test(file),
  );

  test('are in the catalogue, and nowhere else', () => {
    expect(files.length).toBeGreaterThan(60);
    const found = files.flatMap((file) =>
      wordsIn(readFileSync(join(root, file), 'utf8'), file.endsWith('x') ? 'tsx' : 'ts').map(
        (words) => `${file}: ${words}`,
      ),
    );
    expect(found).toEqual([]);
  });

  test.each([
    ['<button aria-label="close it" />', ['"close it"']],
    ['<button class="button quiet" title={isOpen ? "hide" : text.show} />', ['"hide"']],
    ['<Dialog title={`to $' + '{name}`} />', ['`to $' + '{name}`']],
    ['<p>{isDone && "done"}</p>', ['"done"']],
    ["setProblem('Choose a day.')", ['"Choose a day."']],
    ['tell(`You wrote $' + '{count} words.`)', ['`You wrote $' + '{count} words.`']],
    ['const kinds = { group: { label: "group", icon: "hash" } }', ['"group"']],
    ['<p class="pane open" aria-label={kind === "emoji" ? text.a : text.b} title={`@$' + '{name}`}><b /></p>', []],
  ])('are found in %p', (source, words) => expect(wordsIn(source, 'tsx')).toEqual(words));
});
