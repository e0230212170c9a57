import { expect, test } from 'bun:test';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameAt } from '../../compose/scheduled-backups.ts';
import { readSettings } from '../../config.ts';
import { temporaryFolder } from '../support/cleanup.ts';
import { emptyEnvironment, freshEnvironment } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { Talking } from '../support/process.ts';

const old = 'parley-2020-01-01T00-00-00Z.backup';
const older = 'parley-2019-01-01T00-00-00Z.backup';

test('a server backs itself up, keeps as many backups as it should, and can be restored from one', async () => {
  const folder = temporaryFolder();
  for (const name of [old, older, 'mine.backup']) writeFileSync(join(folder, name), '');
  const own = { ...(await freshEnvironment('sqlite')), PARLEY_BACKUP_FOLDER: folder, LOG_LEVEL: 'info' };
  const env = { ...own, PARLEY_BACKUP_EVERY: '12h', PARLEY_BACKUP_KEEP: '2' };
  const server = new Talking(env);
  await server.url();
  await eventually(
    'there is a new one, and the oldest is gone',
    async () => !existsSync(join(folder, older)) || undefined,
  );
  const [mine, kept, made = '', ...more] = readdirSync(folder).sort();
  expect([mine, kept, more]).toEqual(['mine.backup', old, []]);
  server.kill('SIGTERM');
  expect((await server.end()).stdout).toContain('backup_made');

  const cli = join(import.meta.dir, '../../../cli/main.ts');
  const restored = await emptyEnvironment('sqlite');
  const run = Bun.spawnSync([process.execPath, cli, 'restore', join(folder, made)], { env: restored });
  expect({ code: run.exitCode, said: run.stderr.toString() }).toMatchObject({ code: 0 });

  const again = new Talking(env);
  await again.url();
  again.kill('SIGTERM');
  await again.end();
  expect(readdirSync(folder).sort()).toEqual(['mine.backup', old, made].sort());
});

test('a backup that fails is logged, and removes nothing', async () => {
  const folder = temporaryFolder();
  // The command replaces no file. Those of the future do not count as backups that were made.
  const taken = Array.from({ length: 300 }, (_, i) => nameAt(Date.now() + i * 1_000));
  for (const name of taken) writeFileSync(join(folder, name), '');
  const own = { ...(await freshEnvironment('sqlite')), PARLEY_BACKUP_FOLDER: folder, LOG_LEVEL: 'info' };
  const server = new Talking({ ...own, PARLEY_BACKUP_EVERY: '1h', PARLEY_BACKUP_KEEP: '1' });
  await server.url();
  await eventually('it is logged', async () => server.stdout.includes('"job":"backup"') || undefined);
  expect(server.stdout).toContain('the backup failed: ');
  expect(readdirSync(folder).sort()).toEqual(taken);
  server.kill('SIGTERM');
  expect((await server.end()).code).toBe(0);
});

test('the time between backups is at least 15 minutes', () => {
  expect(readSettings({ PARLEY_BACKUP_EVERY: '2d' }).backupEvery).toBe(172_800_000);
  for (const PARLEY_BACKUP_EVERY of ['1m', '0h', 'daily', '5', '1w']) {
    expect(() => readSettings({ PARLEY_BACKUP_EVERY })).toThrow('off, or a time from 15m');
  }
});
