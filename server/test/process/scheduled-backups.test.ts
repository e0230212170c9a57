import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameAt } from '../../compose/backup-folder.ts';
import { ScheduledBackups } from '../../compose/scheduled-backups.ts';
import { readSettings } from '../../config.ts';
import { SingleFlight } from '../../lib/single-flight.ts';
import { FailureLog } from '../../observe/failure-log.ts';
import { Log } from '../../observe/log.ts';
import { Metrics } from '../../observe/metrics.ts';
import { temporaryFolder } from '../support/cleanup.ts';
import { type Environment, emptyEnvironment, freshEnvironment, spareMigrating } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { Talking } from '../support/process.ts';
import { startServer } from '../support/server.ts';

const mebi = 1_048_576;

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

test('a backup that would take the reserve of the disk is not begun, and everybody can see that', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, old), '');
  truncateSync(join(folder, old), 60 * mebi);
  const env = { ...(await freshEnvironment('sqlite')), PARLEY_BACKUP_FOLDER: folder, LOG_LEVEL: 'info' };
  let printed = '';
  const server = await startServer(
    { ...env, PARLEY_BACKUP_EVERY: '1h', PARLEY_BACKUP_KEEP: '1' },
    {
      print: (text) => {
        printed += text;
      },
      // Enough for messages and files.
      measureSpace: async () => ({ free: 300 * mebi, total: 10_000 * mebi }),
    },
  );
  const ready = await eventually('it failed', async () => {
    const text = await (await fetch(`${server.url}/readyz`)).text();
    return text === 'ready\n' ? undefined : text;
  });
  expect(ready).toBe('ready, but the last scheduled backup failed: the log says why (background_job_failed)\n');
  expect(await (await fetch(`${server.url}/metrics`)).text()).toMatch(/^parley_backup_failing 1$/m);
  const root = await server.user('root', { admin: true });
  expect((await root.ok('service.status', {})).status.backup_failing).toBe(true);
  await server.stop();
  expect(printed).toContain('"job":"backup"');
  expect(printed).toContain('the backup failed: it needs about 60 MiB, and the disk of ');
  expect(printed).toContain(' has 300 MiB free, of which 256 MiB stay free (PARLEY_DISK_RESERVE). Free some space');
  expect(readdirSync(folder)).toEqual([old]);
});

const second = 1_000;
const hour = 3_600_000;
const noon = Date.parse('2026-05-05T12:00:00Z');

/** The schedule of a server with a small database. Its clock stands still, and its log is collected. */
async function schedule(extra: Environment = {}) {
  const env: Environment = { ...(await freshEnvironment('sqlite')), PARLEY_BACKUP_EVERY: '12h', ...extra };
  await spareMigrating(env);
  const data = env.PARLEY_DATA ?? '';
  mkdirSync(join(data, 'files'));
  const folder = join(data, 'backups');
  mkdirSync(folder);
  const state = { at: noon, free: 10_000 * mebi, log: '', measured: () => {} };
  const log = new Log('info', 'json', (text) => (state.log += text), Date.now);
  const metrics = new Metrics('1');
  const backups = new ScheduledBackups({
    settings: readSettings(env),
    now: () => state.at,
    measureSpace: async () => {
      state.measured();
      return { free: state.free, total: 20_000 * mebi };
    },
    contentBytes: async () => mebi,
    metrics,
    log,
  });
  const job = new SingleFlight(() => backups.step(), new FailureLog(log, 'background_job_failed', { job: 'backup' }));
  return {
    state,
    backups,
    folder,
    data,
    files: () => readdirSync(folder).sort(),
    metric: (name: string) => new RegExp(`^${name} (.*)$`, 'm').exec(metrics.text())?.[1],
    /** Lets the server look whether a backup is due, so much later. Returns the events that it logs. */
    later: async (ms: number): Promise<unknown[]> => {
      state.at += ms;
      state.log = '';
      await job.run();
      log.flush();
      return state.log.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).event]));
    },
  };
}

test('a backup from the future neither hides the others nor counts as one of them', async () => {
  const { later, files, folder, metric } = await schedule({ PARLEY_BACKUP_KEEP: '3' });
  const [first, next, last] = [3, 2, 1].map((days) => nameAt(noon - days * 24 * hour)) as [string, string, string];
  const future = nameAt(noon + 24 * 365 * hour);
  for (const name of [first, next, last, future]) writeFileSync(join(folder, name), '');
  expect(await later(0)).toEqual(['backup_made']);
  const made = nameAt(noon);
  expect(files()).toEqual([next, last, made, future]);
  for (let look = 0; look < 3; look++) expect(await later(10 * second)).toEqual([]);
  expect(files()).toEqual([next, last, made, future]);
  expect(metric('parley_last_backup_time_seconds')).toBe(String(noon / 1_000));
  // The administrator moves the backups elsewhere.
  for (const name of files()) rmSync(join(folder, name));
  expect(await later(10 * second)).toEqual([]);
  expect(files()).toEqual([]);
  expect(await later(12 * hour)).toEqual(['backup_made']);
  expect(files()).toHaveLength(1);
});

test('a clock that was ahead delays no backup once it is right', async () => {
  const { later, files } = await schedule();
  const day = 24 * hour;
  expect(await later(365 * day)).toEqual(['backup_made']);
  expect(await later(-365 * day)).toEqual(['backup_made']);
  expect(await later(10 * second)).toEqual([]);
  expect(files()).toEqual([nameAt(noon), nameAt(noon + 365 * day)]);
});

test('the job has failed until a backup succeeds, and a failure removes nothing', async () => {
  const { later, files, folder, data, metric } = await schedule({ PARLEY_BACKUP_KEEP: '1' });
  // The command that is about to fail leaves the last file if it is killed.
  for (const name of [old, older, `${nameAt(noon)}.0123456789ab.part`]) writeFileSync(join(folder, name), '');
  // The command refuses a folder that is not that of a server.
  rmSync(join(data, 'files'), { recursive: true });
  expect(await later(0)).toEqual(['background_job_failed']);
  expect(await later(10 * second)).toEqual([]);
  expect(metric('parley_backup_failing')).toBe('1');
  mkdirSync(join(data, 'files'));
  expect(await later(10 * second)).toEqual([]);
  expect(files()).toEqual([older, old]);
  expect(await later(600 * second)).toEqual(['backup_made', 'recovered']);
  expect(files()).toEqual([nameAt(noon + 620 * second)]);
  expect(metric('parley_backup_failing')).toBe('0');
});

test('a server that stops during a backup logs no failure', async () => {
  const { later, files, state, backups } = await schedule();
  let measured = 0;
  state.measured = () => {
    // The first time is before the command starts.
    if (++measured === 2) backups.stop();
  };
  expect(await later(0)).toEqual([]);
  expect(await later(hour)).toEqual([]);
  expect([measured, files()]).toEqual([2, []]);
});

test('a backup that turns out to be too large for the disk is ended', async () => {
  const { later, files, state } = await schedule();
  let measured = 0;
  state.measured = () => {
    if (++measured === 2) state.free = 200 * mebi;
  };
  expect(await later(0)).toEqual(['background_job_failed']);
  expect(state.log).toContain('it was ended before it was complete, and the disk of ');
  expect(files()).toEqual([]);
});

test('what killed backups have left is removed, unless it may still be written', async () => {
  const { later, files, folder } = await schedule();
  const [left, current, own] = [
    `${nameAt(noon - 20 * hour)}.0123456789ab.part`,
    `${nameAt(noon - hour)}.0123456789ab.part`,
    'mine.backup.0123456789ab.part',
  ] as const;
  for (const name of [left, current, own]) writeFileSync(join(folder, name), '');
  for (const name of [left, own]) utimesSync(join(folder, name), noon / 1_000, (noon - 19 * hour) / 1_000);
  utimesSync(join(folder, current), noon / 1_000, (noon - 60 * second) / 1_000);
  expect(await later(0)).toEqual(['backup_made']);
  expect(files()).toEqual([own, current, nameAt(noon)].sort());
});

test('the time between backups is at least 15 minutes', () => {
  expect(readSettings({ PARLEY_BACKUP_EVERY: '2d' }).backupEvery).toBe(172_800_000);
  for (const PARLEY_BACKUP_EVERY of ['1m', '0h', 'daily', '5', '1w']) {
    expect(() => readSettings({ PARLEY_BACKUP_EVERY })).toThrow('off, or a time from 15m');
  }
});
