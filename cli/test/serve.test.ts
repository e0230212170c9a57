import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endWithUs, temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { freshEnvironment } from '@parley/server/test/support/engines.ts';
import { listeningUrl } from '@parley/server/test/support/server.ts';
import { failed } from './parley.ts';
import { mainFile, SpawnedCommand } from './spawned-command.ts';

test('serve starts the server, alone on its folder, and stops on SIGTERM', async () => {
  const env = await freshEnvironment('sqlite');
  const child = Bun.spawn([process.execPath, mainFile, 'serve'], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdout: 'ignore',
    stderr: 'pipe',
  });
  endWithUs(child);
  const response = await fetch(`${await listeningUrl(child.stderr)}/healthz`);
  expect(await response.text()).toBe('ok\n');
  await using second = new SpawnedCommand(['serve'], env);
  expect(await second.end()).toEqual(failed(1, 'Another Parley server is using the data folder'));
  child.kill('SIGTERM');
  expect(await child.exited).toBe(0);
});

test('serve reads .env in its folder, and raises the limit of outgoing requests, in one process', async () => {
  const { PORT, ...env } = await freshEnvironment('sqlite');
  const folder = temporaryFolder();
  writeFileSync(join(folder, '.env'), 'PORT=0\nPARLEY_METRICS_TOKEN=0123456789abcdef\nHOST=192.0.2.1\n');
  const child = Bun.spawn([process.execPath, '--no-env-file', mainFile, 'serve'], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdout: 'ignore',
    stderr: 'pipe',
  });
  endWithUs(child);
  const url = await listeningUrl(child.stderr);
  expect(url).not.toContain(':8080');
  const variables = readFileSync(`/proc/${child.pid}/environ`, 'utf8').split('\0');
  // The environment overrides the file.
  expect(variables).toEqual(
    expect.arrayContaining([
      'BUN_CONFIG_MAX_HTTP_REQUESTS=1024',
      'PARLEY_METRICS_TOKEN=0123456789abcdef',
      'HOST=127.0.0.1',
    ]),
  );
  child.kill('SIGTERM');
  expect(await child.exited).toBe(0);
});
