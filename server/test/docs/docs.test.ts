import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { anchor } from '../../../docs/generate/markdown.ts';
import { pages, referenceFolder } from '../../../docs/generate/pages.ts';
import { sdkExamples, sdkExamplesFile } from '../../../docs/generate/sdk-examples.ts';
import { sdkOperations, sdkOperationsFile } from '../../../docs/generate/sdk-operations.ts';

const root = join(import.meta.dir, '../../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

test('the reference pages are what the tables give (otherwise: npm run docs)', () => {
  for (const [name, text] of Object.entries(pages())) {
    const file = relative(root, join(referenceFolder, name));
    const current = existsSync(join(root, file)) && read(file) === text;
    if (!current) throw new Error(`${file} is out of date. Run: npm run docs`);
  }
});

test('the operations and examples of the SDK are those of the contract (otherwise: npm run docs)', () => {
  const generated = { [sdkOperationsFile]: sdkOperations(), [sdkExamplesFile]: sdkExamples() };
  for (const [file, text] of Object.entries(generated)) {
    if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
      throw new Error(`${relative(root, file)} is out of date. Run: npm run docs`);
    }
  }
});

test('every link between the pages leads somewhere', () => {
  const headings = (file: string) => [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchor(heading));
  const files = [...new Bun.Glob('**/*.md').scanSync(root)].filter(
    (file) => !/(^|\/)node_modules\/|^dist\//.test(file),
  );
  const links = files.flatMap((file) =>
    // Code contains no links.
    [
      ...read(file)
        .replaceAll(/`[^`]*`/g, '')
        .matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g),
    ].map(([link, path, heading]) => ({ file, link, target: path ? join(dirname(file), path) : file, heading })),
  );
  expect(links.length).toBeGreaterThan(100);
  const broken = links.filter(
    ({ target, heading }) =>
      !existsSync(join(root, target)) || (heading !== undefined && !headings(target).includes(heading)),
  );
  expect(broken).toEqual([]);
});

test('every npm script that the pages name exists', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const file of ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md']) {
    const named = [...read(file).matchAll(/npm (?:run ([\w:]+)|(start|test)\b)/g)].map(
      ([, run, short]) => run ?? short,
    );
    expect({ file, missing: named.filter((name = '') => !(name in scripts)) }).toEqual({ file, missing: [] });
  }
});
