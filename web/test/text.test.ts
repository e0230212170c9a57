import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { wordsIn, wordsOfFiles } from '@parley/server/test/support/words.ts';
import { fileSize } from '../lib/file-size.ts';
import { countsIn } from '../text/shared/counts.ts';
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

describe('words', () => {
  const root = join(import.meta.dir, '..');
  const files = [...new Bun.Glob('**/*.{ts,tsx}').scanSync(root)].filter(
    // Snippets are for programs.
    (file) => !/^(?:node_modules|test|text)\/|^build\.ts$|snippets\.ts$/.test(file),
  );

  test('are in the catalogue, and nowhere else', () => {
    expect(files.length).toBeGreaterThan(60);
    expect(wordsOfFiles(root, files)).toEqual([]);
  });

  test.each([
    ['<button aria-label="close it" />', ['"close it"']],
    ['<button class="button quiet" title={isOpen ? "hide" : text.show} />', ['"hide"']],
    ['<Dialog title={`to $' + '{name}`} />', ['`to $' + '{name}`']],
    ['<p>{isDone && "done"}</p>', ['"done"']],
    ["setProblem('Choose a day.')", ['"Choose a day."']],
    ['tell(`You wrote $' + '{count} words.`)', ['`You wrote $' + '{count} words.`']],
    ['const kinds = { group: { label: "group", icon: "hash" } }', ['"group"']],
    ['const columns = { Name: ({ name }) => name, "Last used": time }', ['"Last used"', '"Name"']],
    ["throw invalidField('again', 'is not the same')", ['"is not the same"']],
    ['<p class="pane open" aria-label={kind === "emoji" ? text.a : text.b} title={`@$' + '{name}`}><b /></p>', []],
  ])('are found in %p', (source, words) => expect(wordsIn(source, 'tsx')).toEqual(words));
});
