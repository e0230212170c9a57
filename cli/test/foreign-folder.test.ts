import { expect, test } from 'bun:test';
import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { endWithUs, temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { emptyEnvironment, freshEnvironment } from '@parley/server/test/support/engines.ts';
import { eventually } from '@parley/server/test/support/eventually.ts';
import { listeningUrl } from '@parley/server/test/support/server.ts';
import { parley } from './parley.ts';
import { spawn } from './spawned-command.ts';
import { surprisingFiles } from './surprising-files.ts';

/** What `npx parley` runs. */
const program = ['node', join(import.meta.dir, '../parley.mjs')];

test('files in its folder do not change what npx parley does', async () => {
  const folder = temporaryFolder();
  surprisingFiles(folder);
  const env = { HOME: folder };
  expect(await spawn([...program, '--version'], folder, env)).toMatchObject({ code: 0 });
  expect((await spawn([...program, 'status'], folder, env)).stderr).toContain('http://127.0.0.1:8080');
});

test('a server reads .env as it is, and its folder decides nothing about the processes that it starts', async () => {
  const folder = temporaryFolder();
  const backups = temporaryFolder();
  surprisingFiles(folder);
  appendFileSync(join(folder, '.env'), 'PARLEY_BACKUP_PASSPHRASE=word$HOME-word\nPARLEY_BACKUP_EVERY=1h\n');
  const child = Bun.spawn([...program, 'serve'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      ...(await freshEnvironment('sqlite')),
      PARLEY_BACKUP_FOLDER: backups,
    },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  });
  endWithUs(child);
  let made = '';
  try {
    const url = await listeningUrl(child.stderr);
    expect((await fetch(`${url}/assets/client.json`)).status).toBe(200);
    made = await eventually('there is a backup', async () =>
      readdirSync(backups).find((name) => name.endsWith('.backup')),
    );
  } finally {
    // It passes the signal on to Bun, which SIGKILL would leave behind.
    child.kill('SIGTERM');
    await child.exited;
  }
  expect(child.exitCode).toBe(0);
  const restored = { ...(await emptyEnvironment('sqlite')), PARLEY_BACKUP_PASSPHRASE: 'word$HOME-word' };
  expect(await parley(['restore', join(backups, made)], restored)).toMatchObject({ code: 0 });
});
