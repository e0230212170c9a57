import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { endWithUs, temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { eventually } from '@parley/server/test/support/eventually.ts';
import { requirePrograms, testUnless } from '@parley/server/test/support/requirements.ts';
import { listeningUrl } from '@parley/server/test/support/server.ts';
import { expectTour, portsOf, runBlocks, shellBlocks, tourBlocks } from '@parley/server/test/support/shell.ts';
import { surprisingFiles } from '../../cli/test/surprising-files.ts';
import { bundle, root } from '../bundle.ts';

const maxBytes = 125_000_000;

/** The programs of the README, and neither Node nor Bun. */
const tools = ['bash', 'cat', 'cp', 'curl', 'mkdir', 'sleep', 'timeout'];

const readme = readFileSync(join(root, 'README.md'), 'utf8');

let base: string;
let folder: string;
let environment: Record<string, string>;

/** The program where `npm run build` writes it, and a PATH without a runtime. */
beforeAll(async () => {
  base = temporaryFolder();
  const home = join(base, 'home');
  const path = join(base, 'bin');
  folder = join(home, 'parley');
  for (const made of [home, path]) mkdirSync(made);
  for (const tool of tools) symlinkSync(Bun.which(tool) ?? '/nowhere', join(path, tool));
  environment = { PATH: path, HOME: home, HOST: '127.0.0.1' };
  await bundle({ executable: join(base, 'dist/parley') });
});

const parley = (...words: string[]) => {
  const run = Bun.spawnSync(['./parley', ...words], { cwd: folder, env: environment });
  return { code: run.exitCode, stdout: run.stdout.toString(), stderr: run.stderr.toString() };
};

test('the executable is small enough to download', () => {
  expect(statSync(join(base, 'dist/parley')).size).toBeLessThan(maxBytes);
});

describe('the executable alone in a folder', () => {
  let url: string;
  let server: Bun.Subprocess<'ignore', 'ignore', 'pipe'>;
  beforeAll(async () => {
    const [start = ''] = shellBlocks(readme).flatMap((block) => block.match(/^mkdir .* \.\/parley serve$/m) ?? []);
    // Without a shell that would get its signals.
    server = Bun.spawn(['bash', '-ec', start.replace('./parley serve', 'exec ./parley serve')], {
      cwd: base,
      env: { ...environment, PORT: '0', PARLEY_BACKUP_EVERY: '24h' },
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
    });
    endWithUs(server);
    url = await listeningUrl(server.stderr);
    environment = { ...environment, PARLEY_URL: url };
  });
  afterAll(async () => {
    server.kill('SIGTERM');
    expect(await server.exited).toBe(0);
  });

  test('opens the setup link', async () => {
    const link = readFileSync(join(folder, 'data/setup-link'), 'utf8').trim();
    const page = await fetch(link);
    expect({ status: page.status, text: await page.text() }).toEqual({
      status: 200,
      text: expect.stringContaining('<form'),
    });
  });

  test('shows commands as it was typed', async () => {
    const page = await (await fetch(`${url}/setup/expired`)).text();
    expect(page).toContain('./parley user add &lt;name&gt; --admin');
    expect(parley('user', 'list', '--frobnicate').stderr).toContain('See: ./parley user list --help');
    const onPath = Bun.spawnSync(['bash', '-c', 'parley help frobnicate'], {
      cwd: base,
      env: { ...environment, PATH: `${environment.PATH}:${folder}` },
    });
    expect(onPath.stderr.toString()).toContain('See: parley help');
  });

  testUnless(requirePrograms('curl', 'bash'), "passes the README's tour", async () => {
    const blocks = tourBlocks(readme);
    const adapt = await portsOf(url);
    const { outputs } = await runBlocks(blocks, { cwd: folder, env: environment }, (script) =>
      adapt(script).replaceAll('npx parley', './parley'),
    );
    expectTour(outputs);
  });

  test('serves the web client that it has inside', async () => {
    const { scripts } = (await (await fetch(`${url}/assets/client.json`)).json()) as { scripts: string[] };
    expect(scripts.length).toBeGreaterThan(0);
    for (const path of [...scripts.map((name) => `client/${name}`), 'worker.js', 'forget.js', 'icon-512.png']) {
      const response = await fetch(`${url}/assets/${path}`);
      expect({ path, status: response.status }).toEqual({ path, status: 200 });
      expect((await response.bytes()).length).toBeGreaterThan(100);
    }
  });

  test('backs itself up', async () => {
    const backups = join(folder, 'data/backups');
    await eventually('there is a backup', async () =>
      existsSync(backups) && readdirSync(backups).some((name) => name.endsWith('.backup')) ? true : undefined,
    );
  });

  test('reads pictures', async () => {
    const token = parley('token', 'create', 'ada').stdout.trim();
    const form = new FormData();
    form.set('file', Bun.file(join(root, 'server/pages/icons/plain-192.png')));
    const uploaded = await fetch(`${url}/api/files.php?action=upload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: form,
    });
    expect(await uploaded.json()).toMatchObject({ success: true, file: { width: 192, height: 192 } });
  });
});

test('files in its folder do not change what the executable does', () => {
  surprisingFiles(folder);
  const { PARLEY_URL: _, ...own } = environment;
  environment = own;
  expect(parley('--version').code).toBe(0);
  expect(parley('status').stderr).toContain('http://127.0.0.1:8080');
});
