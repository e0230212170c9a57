import { expect, test } from 'bun:test';
import { endWithUs } from '@parley/server/test/support/cleanup.ts';
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
