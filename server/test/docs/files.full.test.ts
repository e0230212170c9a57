import { afterAll, beforeAll, expect } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/cleanup.ts';
import { freshEnvironment } from '../support/engines.ts';
import { requirePrograms, testUnless } from '../support/requirements.ts';
import { attach, type ServerProcess, spawnServer, type TestServer } from '../support/server.ts';
import { runBlocks, shellBlocks } from '../support/shell.ts';

const root = join(import.meta.dir, '../../..');
const page = readFileSync(join(root, 'docs/files.md'), 'utf8');
const blocks = shellBlocks(page);

let process_: ServerProcess;
let server: TestServer;
beforeAll(async () => {
  const env = await freshEnvironment('sqlite');
  process_ = await spawnServer(env);
  server = await attach(process_.url, env);
});
afterAll(async () => {
  await server?.stop();
  await process_?.kill('SIGTERM');
});

testUnless(requirePrograms('curl', 'bash'), 'every command of the page works, and the file comes back', async () => {
  const [ada, bob] = [await server.user('ada'), await server.user('bob')];
  await ada.ok('messages.create_group', { name: 'Launch', participants: [bob.userId] });
  expect(blocks.length).toBeGreaterThan(4);
  const env = {
    ...process.env,
    ...server.env,
    PARLEY: `${server.url}/api`,
    PARLEY_URL: server.url,
    ADA: ada.token,
    BOB: bob.token,
  };
  const folder = temporaryFolder();
  const { outputs } = await runBlocks(blocks, { cwd: root, env }, (script) => script.replaceAll('/tmp/', `${folder}/`));
  for (const output of outputs) expect(output).not.toContain('"success":false');
  const fetched = outputs[blocks.findIndex((block) => block.includes('Range:'))];
  expect(fetched).toBe('\nThe plan\nplan');
  const { messages } = await bob.ok('messages.get_messages', { chat_id: 1 });
  expect(messages.map(({ file }) => file?.name)).toEqual(['plan.txt', 'plan.txt', 'plan.txt', 'plan.txt']);
  const { link } = JSON.parse(outputs.at(-1) ?? '') as { link: { url: string } };
  expect(await (await fetch(link.url)).text()).toBe('The plan\n');
});
