import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { text } from '../../pages/text/text.ts';
import { wordsOfFiles } from '../support/words.ts';

test('the words of pages are in the catalogue, and nowhere else', () => {
  const root = join(import.meta.dir, '../../pages');
  const files = [...new Bun.Glob('**/*.{ts,tsx}').scanSync(root)].filter(
    // The latter are for programs.
    (file) => !/^text\/|^programs\.ts$/.test(file),
  );
  expect(files.length).toBeGreaterThan(30);
  expect(wordsOfFiles(root, files)).toEqual([]);
});

test('a wait has the plural of its number', () => {
  expect([1, 2, 89, 90, 120, 121].map(text.common.wait)).toEqual([
    ...['1 second', '2 seconds', '89 seconds', '2 minutes', '2 minutes', '3 minutes'],
  ]);
});
