import { expect, test } from 'bun:test';
import { endWithUs } from '@parley/server/test/support/cleanup.ts';
import { freshEnvironment } from '@parley/server/test/support/engines.ts';
import { failed } from './parley.ts';
import { mainFile, SpawnedCommand } from './spawned-command.ts';

test('serve starts the server, alone on its folder, and ends it when told to', async () => {
  const env = await freshEnvironment('sqlite');
  const child = Bun.spawn([process.execPath, mainFile, 'serve'], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdout: 'ignore',
    stderr: 'pipe',
  });
  endWithUs(child);
  const answer = await fetch(`${await addressIn(child.stderr)}/healthz`);
  expect(await answer.text()).toBe('ok\n');
  await using second = new SpawnedCommand(['serve'], env);
  expect(await second.end()).toEqual(failed(1, 'Another Parley server is using the data folder'));
  child.kill('SIGTERM');
  expect(await child.exited).toBe(0);
});

/** The address that a server says it listens on. */
async function addressIn(stderr: ReadableStream<Uint8Array>): Promise<string> {
  let said = '';
  for await (const part of stderr) {
    said += new TextDecoder().decode(part);
    const url = /listening on (http:\S+)/.exec(said)?.[1];
    if (url) return url;
  }
  throw new Error(`the server did not start: ${said}`);
}
