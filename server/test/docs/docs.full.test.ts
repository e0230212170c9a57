import { afterAll, beforeAll, expect } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshEnvironment } from '../support/engines.ts';
import { requirePrograms, testUnless } from '../support/requirements.ts';
import { type ServerProcess, spawnServer } from '../support/server.ts';
import { portsOf, runBlocks, sectionOf, shellBlocks } from '../support/shell.ts';

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
  "every command of the README's tour works, and the last one prints the message back",
  async () => {
    const outputs = await runTour(shellBlocks(sectionOf(readFileSync(join(root, 'README.md'), 'utf8'), 'A tour')));
    for (const output of outputs) expect(output).not.toContain('"success":false');
    expect(outputs.some((output) => /^verified {2}new_message {2}.*Over the webhook/m.test(output))).toBe(true);
    expect(outputs.at(-1)).toContain('"content":"Hello, world"');
  },
);

/** Runs the blocks in one shell, as a reader does, and answers what each printed. */
async function runTour(blocks: readonly string[]): Promise<string[]> {
  if (!server) throw new Error('the server has not been started');
  expect(blocks.length).toBeGreaterThan(0);
  const { DATABASE_URL, ...inherited } = process.env;
  const env = { ...inherited, ...environment };
  return (await runBlocks(blocks, { cwd: root, env }, await portsOf(server.url))).outputs;
}
