import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dir, '../..');
const pages = [...new Bun.Glob('**/*.md').scanSync(root)].filter((file) => !file.includes('node_modules/'));

/** Where a page's links lead, as far as they stay in the repository. What stands in code is no link. */
const linksIn = (page: string): string[] =>
  [
    ...readFileSync(join(root, page), 'utf8')
      .replaceAll(/`[^`]*`/g, 'code')
      .matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g),
  ]
    .map(([, address = '']) => address)
    .filter((address) => !/^[a-z]+:/.test(address));

test('every link between the pages leads somewhere', () => {
  const links = pages.flatMap((page) => linksIn(page).map((address) => ({ page, address })));
  expect(links.length).toBeGreaterThan(50);
  expect(links.filter(({ page, address }) => !existsSync(join(root, dirname(page), address)))).toEqual([]);
});
