import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { endWithUs, temporaryFolder } from '../support/cleanup.ts';
import { freshEnvironment } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { listeningUrl } from '../support/server.ts';

const root = join(import.meta.dir, '../../..');

test('a server that npm started ends when npm is told to stop', async () => {
  const npm = Bun.spawn(['npm', 'start'], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', HOME: temporaryFolder(), ...(await freshEnvironment('sqlite')) },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  });
  endWithUs(npm);
  const url = await listeningUrl(npm.stderr);
  const below = descendants(npm.pid).map((pid) => endWithUs({ pid }));
  try {
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    npm.kill('SIGTERM');
    await npm.exited;
    await eventually('the port refuses connections', async () => ((await answers(url)) ? undefined : true));
  } finally {
    for (const one of below) one.kill('SIGKILL');
  }
});

const answers = (url: string) =>
  fetch(`${url}/healthz`, { keepalive: false }).then(
    () => true,
    () => false,
  );

/** The processes that a process started, and those that they started. */
function descendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}
