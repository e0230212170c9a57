import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { anchor } from '../../docs/generate/markdown.ts';
import { pages, referenceFolder } from '../../docs/generate/pages.ts';
import { freshEnvironment } from './support/engines.ts';
import { type ServerProcess, spawnServer } from './support/server.ts';
import { runBlocks, shellBlocks } from './support/shell.ts';

const root = join(import.meta.dir, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

test('the reference pages are what the tables give (otherwise: npm run docs)', () => {
  for (const [name, text] of Object.entries(pages())) {
    const file = relative(root, join(referenceFolder, name));
    const current = existsSync(join(root, file)) && read(file) === text;
    if (!current) throw new Error(`${file} is out of date. Run: npm run docs`);
  }
});

test('every link between the pages leads somewhere', () => {
  const headings = (file: string) => [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchor(heading));
  const files = [...new Bun.Glob('**/*.md').scanSync(root)].filter((file) => !file.includes('node_modules/'));
  const links = files.flatMap((file) =>
    // What stands in code is no link.
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
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
  }
});

let server: ServerProcess | undefined;
let environment: Record<string, string>;

beforeAll(async () => {
  environment = await freshEnvironment('sqlite');
  server = await spawnServer(environment);
});
afterAll(() => server?.kill('SIGTERM'));

test.skipIf(!Bun.which('curl') || !Bun.which('bash'))(
  "every command of the README's tour works, and the last one prints the message back",
  async () => {
    const outputs = await runTour(blocksOf(read('README.md'), 'A tour'));
    for (const output of outputs) expect(output).not.toContain('"success":false');
    expect(outputs.at(-1)).toContain('"content":"Hello, world"');
  },
);

/** The shell blocks under the heading that begins so. */
function blocksOf(markdown: string, heading: string): string[] {
  const section = markdown.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
  return shellBlocks(section);
}

/** Runs the blocks in one shell, as a reader does, and answers what each printed. */
async function runTour(blocks: readonly string[]): Promise<string[]> {
  if (!server) throw new Error('the server has not been started');
  expect(blocks.length).toBeGreaterThan(0);
  const { port } = new URL(server.url);
  const { DATABASE_URL, ...inherited } = process.env;
  const env = { ...inherited, ...environment };
  return (await runBlocks(blocks, { cwd: root, env }, (script) => script.replaceAll(':8080', `:${port}`))).outputs;
}
