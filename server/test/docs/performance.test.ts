import { expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { performanceFiles } from '../../../docs/generate/performance/page.ts';
import { parts } from '../../../docs/generate/performance/tables.ts';

const docs = join(import.meta.dir, '../../../docs');
const page = readFileSync(join(docs, 'performance.md'), 'utf8');

test('the page on performance and its plots are what the figures give (otherwise: npm run docs)', async () => {
  const files = await performanceFiles();
  expect(Object.keys(files).length).toBeGreaterThan(4);
  const stale = Object.entries(files).filter(
    ([file, text]) => !existsSync(file) || readFileSync(file, 'utf8') !== text,
  );
  expect(stale.map(([file]) => basename(file))).toEqual([]);
});

test('the page has a place for every part of the figures, and shows every plot', async () => {
  const places = [...page.matchAll(/<!-- figures: ([\w-]+) -->/g)].map(([, name]) => name ?? '');
  expect(places.sort()).toEqual(Object.keys(parts).sort());
  const shown = [...page.matchAll(/!\[[^\]]+\]\(performance\/([^)]+)\)/g)].map(([, name]) => name ?? '');
  expect(shown.sort()).toEqual(
    readdirSync(join(docs, 'performance'))
      .filter((name) => name.endsWith('.svg'))
      .sort(),
  );
});
