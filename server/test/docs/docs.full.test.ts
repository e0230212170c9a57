import { afterAll, beforeAll, expect } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshEnvironment } from '../support/engines.ts';
import { requirePrograms, testUnless } from '../support/requirements.ts';
import { type ServerProcess, spawnServer } from '../support/server.ts';
import { expectTour, portsOf, runBlocks, tourBlocks } from '../support/shell.ts';

const root = join(import.meta.dir, '../../..');

let server: ServerProcess | undefined;
let environment: Record<string, string>;

beforeAll(async () => {
  environment = await freshEnvironment('sqlite');
  server = await spawnServer(environment);
});
afterAll(() => server?.kill('SIGTERM'));

testUnless(
  requirePrograms('curl', 'bash'),
  "every command of the README's tour works, and those of the command line",
  async () => {
    const outputs = await runTour(tourBlocks(readFileSync(join(root, 'README.md'), 'utf8')));
    expectTour(outputs);
  },
);

/** Runs the blocks in one shell, as a reader does, and answers what each printed. */
async function runTour(blocks: readonly string[]): Promise<string[]> {
  if (!server) throw new Error('the server has not been started');
  expect(blocks.length).toBeGreaterThan(0);
  const { DATABASE_URL, ...inherited } = process.env;
  const env = { ...inherited, ...environment, PARLEY_URL: server.url };
  return (await runBlocks(blocks, { cwd: root, env }, await portsOf(server.url))).outputs;
}
