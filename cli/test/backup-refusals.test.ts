import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { maxTextBytes } from '@parley/server/backup/archive-reader.ts';
import { migrateTo, newestVersion } from '@parley/server/store/engine/migrate.ts';
import { openPostgres } from '@parley/server/store/engine/postgres.ts';
import {
  type EngineName,
  type Environment,
  emptyEnvironment,
  onAnyEngine,
  onPostgres,
} from '@parley/server/test/support/engines.ts';
import { someBytes } from '@parley/server/test/support/files.ts';
import { startServer } from '@parley/server/test/support/server.ts';
import { eventually } from '../../sdk/test/eventually.ts';
import { backedUp, handmade, leftIn, newPath } from './backups.ts';
import { failed, parley, said } from './parley.ts';
import { RunningCommand } from './running-command.ts';
import { SpawnedCommand } from './spawned-command.ts';

/** A backup with a file in it that cannot be compressed, so that most of its bytes are those of the file. */
async function someBackup(engine: EngineName = 'sqlite', extra: Environment = {}): Promise<string> {
  const env = { ...(await emptyEnvironment(engine)), ...extra };
  const server = await startServer(env);
  const ada = await server.user('ada');
  const { chat_id } = (await ada.ok('messages.create_group', { name: 'Work', participants: [] })).group;
  const file = new File([crypto.getRandomValues(someBytes(600_000))], 'a.bin');
  await ada.ok('messages.send_message', { chat_id, content: 'Kept', file });
  const path = await backedUp(env);
  await server.stop();
  return path;
}

let shared: Promise<string> | undefined;
/** For tests that only look at it. */
const sharedBackup = (): Promise<string> => {
  shared ??= someBackup();
  return shared;
};

const changed = (bytes: Buffer, at: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 0x40;
  return copy;
};

onAnyEngine('a backup that is not whole', (engine) => {
  test('is refused, as a file and out of a pipe, and leaves nothing behind', async () => {
    const whole = readFileSync(await sharedBackup());
    const half = whole.length >> 1;
    const broken = {
      'cut in the middle': whole.subarray(0, half),
      'cut before its last bytes': whole.subarray(0, -20),
      'changed in the middle': changed(whole, half),
      'changed near its end': changed(whole, whole.length - 400),
    };
    const env = await emptyEnvironment(engine);
    for (const [what, bytes] of Object.entries(broken)) {
      const path = newPath();
      writeFileSync(path, bytes);
      const refused = failed(1, 'The backup is damaged or truncated: ');
      // A file is checked before anything is opened, so one engine tells as much as two.
      if (engine === 'sqlite')
        expect({ what, ...(await parley(['restore', path], env)) }).toEqual({ what, ...refused });
      expect({ what, ...(await parley(['restore', '-'], env, bytes)) }).toEqual({ what, ...refused });
      expect({ what, left: await leftIn(env) }).toEqual({ what, left: [] });
    }
    await said(['restore', await sharedBackup()], env);
    expect(await said(['user', 'list'], env)).toContain('ada');
  });
});

describe('a file that is not a backup', () => {
  test.each([
    ['nothing', ''],
    ['text', 'hello hello '.repeat(100)],
    ['something compressed', Bun.zstdCompressSync('hello hello '.repeat(100))],
  ])('is refused: %s', async (_, bytes) => {
    const path = newPath();
    writeFileSync(path, bytes);
    const env = await emptyEnvironment('sqlite');
    expect(await parley(['restore', path], env)).toEqual(failed(1, /(This is not a backup|damaged or truncated)/));
    expect(await leftIn(env)).toEqual([]);
  });

  test('and a missing file is reported', async () => {
    const env = await emptyEnvironment('sqlite');
    expect(await parley(['restore', newPath()], env)).toEqual(failed(1, 'There is no file '));
  });

  test.each([
    [
      { format: 2 },
      'The backup has the format 2, but this Parley supports only those up to 1. Restore it with a newer Parley.',
    ],
    [{ schema: 999 }, 'The backup has schema version 999, but this Parley supports only those up to '],
  ])('one of a newer Parley is refused: %p', async (newer, line) => {
    const env = await emptyEnvironment('sqlite');
    const path = await handmade(newer);
    expect(await parley(['restore', path], env)).toEqual(failed(1, line));
    expect(await leftIn(env)).toEqual([]);
  });
});

onAnyEngine('a place that is not empty', (engine) => {
  test('is refused, and stays as it was: while a server runs there, and after it', async () => {
    const env = await emptyEnvironment(engine);
    const server = await startServer(env);
    await said(['user', 'add', 'bob'], env);
    const path = await sharedBackup();
    const isInTheWay = engine === 'sqlite' ? 'Another Parley server is using' : 'The database is not empty: ';
    expect(await parley(['restore', path], env)).toEqual(failed(1, isInTheWay));
    await server.stop();
    expect(await parley(['restore', path], env)).toEqual(failed(1, /exists already|is not empty/));
    expect(await said(['user', 'list'], env)).toContain('bob');
    expect(await said(['user', 'list'], env)).not.toContain('ada');
  });
});

onPostgres('a database that a server begins to use while it is restored', () => {
  test('is refused, and stays as it was', async () => {
    const env = await emptyEnvironment('postgres');
    const engine = openPostgres({ url: env.DATABASE_URL ?? '', maxConnections: 2 });
    const restoring = await engine.write(async (tx) => {
      await migrateTo(tx, newestVersion, Date.now);
      const restoring = parley(['restore', await sharedBackup()], env);
      await eventually('it waits', () =>
        engine.get(`SELECT 1 AS found FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`),
      );
      return { restoring };
    });
    expect(await restoring.restoring).toEqual(failed(1, 'The database is not empty: '));
    expect(await engine.all('SELECT name FROM users')).toEqual([]);
    await engine.close();
  });
});

describe('a backup that somebody else has made up', () => {
  const files = { included: false, count: 3, bytes: 3, bucket: 'x\u001b]0;gotcha\u0007\u001b[2J' };

  test('does not control the terminal', async () => {
    const { code, stderr } = await parley(['restore', await handmade({ files })], await emptyEnvironment('sqlite'));
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('x\\u{1b}]0;gotcha\\u{7}') });
    expect(stderr).not.toContain('\u001b');
  });

  test('is refused where its ids leave no room for more, or it has no tables', async () => {
    const env = await emptyEnvironment('sqlite');
    const most = await handmade({ last_ids: { messages: Number.MAX_SAFE_INTEGER } });
    expect(await parley(['restore', most], env)).toEqual(failed(1, 'which leaves too little room'));
    const empty = await handmade({ tables: [] });
    expect(await parley(['restore', empty], env)).toEqual(failed(1, / of schema version \d+ is not in it/));
    const none = await handmade({ schema: 0, tables: [] });
    expect(await parley(['restore', none], env)).toEqual(failed(1, 'its manifest is invalid'));
    const large = await handmade({}, { 'tables/users/000000.json': `[${' '.repeat(maxTextBytes)}]` });
    expect(await parley(['restore', large], env)).toEqual(failed(1, 'tables/users/000000.json is too large'));
    expect(await leftIn(env)).toEqual([]);
  });
});

describe('a folder with files of another database', () => {
  test('is refused', async () => {
    const env = await emptyEnvironment('sqlite');
    writeFileSync(join(env.PARLEY_DATA ?? '', 'files'), '');
    expect(await parley(['restore', await sharedBackup()], env)).toEqual(failed(1, 'files exists already. '));
  });
});

describe('the key', () => {
  const key = (fill: number) => Buffer.alloc(32, fill).toString('base64');

  test('is not written without the key of the server, which nobody would miss before it is too late', async () => {
    const env = await emptyEnvironment('sqlite');
    const server = await startServer(env);
    await server.user('ada');
    const other = { ...env, PARLEY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') };
    const path = newPath();
    expect(await parley(['backup', path], other)).toEqual(failed(1, 'PARLEY_SECRET_KEY is not the key'));
    await server.stop();
    rmSync(join(env.PARLEY_DATA ?? '', 'secret.key'));
    expect(await parley(['backup', path], env)).toEqual(failed(1, 'There is no '));
    expect(existsSync(path)).toBe(false);
    expect(await parley(['backup', ''], env)).toEqual(failed(1, 'There is no '));
  });

  test('that is a setting is not in the backup, which is said, and has to be given to restore it', async () => {
    const env: Environment = { ...(await emptyEnvironment('sqlite')), PARLEY_SECRET_KEY: key(1) };
    const server = await startServer(env);
    await server.user('ada');
    const path = newPath();
    const { code, stderr } = await parley(['backup', path], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('Not included: the key ') });
    await server.stop();
    expect(existsSync(join(env.PARLEY_DATA ?? '', 'secret.key'))).toBeFalse();
    const target = await emptyEnvironment('sqlite');
    expect(await parley(['restore', path], target)).toEqual(failed(1, 'Set PARLEY_SECRET_KEY to the key'));
    expect(await parley(['restore', path], { ...target, PARLEY_SECRET_KEY: key(2) })).toEqual(
      failed(1, 'were encrypted with another key than PARLEY_SECRET_KEY'),
    );
    expect(await leftIn(target)).toEqual([]);
    await said(['restore', path], { ...target, PARLEY_SECRET_KEY: key(1) });
    expect(readdirSync(target.PARLEY_DATA ?? '')).not.toContain('secret.key');
  });

  test('that another server has left in the folder is not replaced', async () => {
    const env = await emptyEnvironment('sqlite');
    const file = join(env.PARLEY_DATA ?? '', 'secret.key');
    writeFileSync(file, key(3));
    expect(await parley(['restore', await sharedBackup()], env)).toEqual(failed(1, 'another key than '));
    expect(readFileSync(file, 'utf8')).toBe(key(3));
  });
});

onAnyEngine('a restore that is cut off', (engine) => {
  /** All of a backup but the end of the file in it. */
  const beginning = async () => readFileSync(await sharedBackup()).subarray(0, -150_000);

  const untilFiles = (env: Environment) => {
    const part = join(env.PARLEY_DATA ?? '', 'restore.part/files/incoming');
    return eventually('it has come to the files', () => existsSync(part) && readdirSync(part).length > 0);
  };

  async function restoreAgain(env: Environment): Promise<void> {
    await said(['restore', await sharedBackup()], env);
    expect(readdirSync(env.PARLEY_DATA ?? '').filter((name) => name.endsWith('.part'))).toEqual([]);
  }

  test('by SIGINT can be done again', async () => {
    const env = await emptyEnvironment(engine);
    const stdin = new PassThrough();
    await using restoring = new RunningCommand(['restore', '-'], { env, stdin });
    stdin.write(await beginning());
    await untilFiles(env);
    expect(await restoring.stop('SIGINT')).toBe('SIGINT');
    expect(restoring.stderr).toBe('Stopped.\n');
    expect(await leftIn(env)).toEqual([]);
    await restoreAgain(env);
  });

  test('by SIGKILL can be done again', async () => {
    const env = await emptyEnvironment(engine);
    await using restoring = new SpawnedCommand(['restore', '-'], env);
    await restoring.write(await beginning());
    await untilFiles(env);
    expect(await restoring.kill('SIGKILL')).toBe('SIGKILL');
    await restoreAgain(env);
  });
});
