import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { databaseId, notePlacing } from '@parley/server/backup/placing.ts';
import { Staging } from '@parley/server/backup/staging.ts';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { type Environment, emptyEnvironment, onAnyEngine, onPostgres } from '@parley/server/test/support/engines.ts';
import { startServer } from '@parley/server/test/support/server.ts';
import { at, backedUp, bytesOf, leftIn } from './backups.ts';
import { CommitCutter, type Cut } from './commit-cutter.ts';
import { failed, parley, said } from './parley.ts';

/** A backup with a file in it, and with a few megabytes of messages where they are asked for. */
async function backup(messages = 0) {
  const env = await emptyEnvironment('sqlite');
  const server = await startServer(env);
  const ada = await server.user('ada');
  const { chat_id } = (await ada.ok('messages.create_group', { name: 'Work', participants: [] })).group;
  const sent = await ada.ok('messages.send_message', { chat_id, content: 'Kept', file: new File(['precious'], 'a') });
  await server.engine.run(
    `INSERT INTO messages (message_id, chat_id, user_id, is_deleted, json)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
     SELECT 1000 + i, chat_id, user_id, 0, json_set(json, '$.content', hex(randomblob(2000))) FROM messages, n WHERE $1 > 0`,
    [messages],
  );
  const path = await backedUp(env);
  await server.stop();
  const fileId = sent.message.file?.file_id ?? 0;
  const textAt = async (place: Environment) => {
    const again = await startServer(place);
    const { bytes } = await bytesOf(at(again, ada), fileId);
    await again.stop();
    return Buffer.from(bytes).toString();
  };
  return { path, textAt };
}

let shared: ReturnType<typeof backup> | undefined;
const sharedBackup = () => {
  shared ??= backup();
  return shared;
};

/** A folder as a restore leaves it that is ended when all but the database is in its place. */
async function interruptedIn(env: Environment, database = databaseId(env.DATABASE_URL)): Promise<void> {
  const staging = new Staging(env.PARLEY_DATA ?? '', database);
  mkdirSync(join(staging.folder, 'files/ab'), { recursive: true });
  writeFileSync(join(staging.folder, 'files/ab/abcdefghijklmnop'), 'of the interrupted one');
  staging.keepKey(`${Buffer.alloc(32, 5).toString('base64')}\n`);
  await staging.placeRest();
}

onAnyEngine('the remains of an interrupted restore', (engine) => {
  const placed = (env: Environment) => [
    join(env.PARLEY_DATA ?? '', 'files/ab/abcdefghijklmnop'),
    join(env.PARLEY_DATA ?? '', 'secret.key'),
  ];

  test('is cleared away by the next one', async () => {
    const { path, textAt } = await sharedBackup();
    const env = await emptyEnvironment(engine);
    await interruptedIn(env);
    expect(placed(env).map((one) => existsSync(one))).toEqual([true, true]);
    await said(['restore', path], env);
    expect(readdirSync(env.PARLEY_DATA ?? '')).not.toContain('restore.part');
    expect(existsSync(placed(env)[0] ?? '')).toBeFalse();
    expect(await textAt(env)).toBe('precious');
  });

  test('stays where it was of another database, or somebody has used it since', async () => {
    const { path } = await sharedBackup();
    const others = [
      { database: databaseId('postgres://localhost/another'), use: () => {} },
      { use: (folder: string) => writeFileSync(join(folder, 'files/ab/another-blob-here'), 'new') },
      { use: (folder: string) => writeFileSync(join(folder, 'secret.key'), Buffer.alloc(32, 6).toString('base64')) },
    ];
    for (const { database, use } of others) {
      const env = await emptyEnvironment(engine);
      await interruptedIn(env, database);
      use(env.PARLEY_DATA ?? '');
      expect(await parley(['restore', path], env)).toEqual(failed(1, ' exists already. '));
      expect(placed(env).map((one) => existsSync(one))).toEqual([true, true]);
    }
  });

  test('stays where its database is there', async () => {
    const { path, textAt } = await sharedBackup();
    const env = await emptyEnvironment(engine);
    await said(['restore', path], env);
    const folder = env.PARLEY_DATA ?? '';
    const files = readdirSync(join(folder, 'files'), { recursive: true });
    const key = readFileSync(join(folder, 'secret.key'), 'utf8');
    // The state of a restore that was killed right after its last step.
    notePlacing(folder, databaseId(env.DATABASE_URL));
    mkdirSync(join(folder, 'restore.part'));
    renameSync(join(folder, 'placing.json'), join(folder, 'restore.part/placing.json'));
    expect(await parley(['restore', path], env)).toEqual(failed(1, /exists already|is not empty/));
    expect(readdirSync(join(folder, 'files'), { recursive: true })).toEqual(files);
    expect(readFileSync(join(folder, 'secret.key'), 'utf8')).toBe(key);
    expect(await textAt(env)).toBe('precious');
  });
});

onPostgres('a connection that is lost during the commit of a restore', () => {
  test('after the commit keeps everything', async () => {
    const { path, textAt } = await sharedBackup();
    const env = await emptyEnvironment('postgres');
    using cutter = await CommitCutter.before(env.DATABASE_URL ?? '', 'after');
    await said(['restore', path], { ...env, DATABASE_URL: cutter.url });
    expect(cutter.hasCut).toBeTrue();
    expect(await textAt(env)).toBe('precious');
  });

  test('before the commit undoes everything', async () => {
    const { path } = await sharedBackup();
    const env = await emptyEnvironment('postgres');
    using cutter = await CommitCutter.before(env.DATABASE_URL ?? '', 'before');
    const { code } = await parley(['restore', path], { ...env, DATABASE_URL: cutter.url });
    expect({ code, hasCut: cutter.hasCut, left: await leftIn(env) }).toEqual({ code: 1, hasCut: true, left: [] });
  });

  test('without a response keeps the files for either outcome', async () => {
    const { path, textAt } = await sharedBackup();
    const lose = async (cut: Cut) => {
      const env = await emptyEnvironment('postgres');
      using cutter = await CommitCutter.before(env.DATABASE_URL ?? '', cut, true);
      // It is known for the same database only by the same address.
      const through = { ...env, DATABASE_URL: cutter.url };
      expect(await parley(['restore', path], through)).toEqual(failed(1, 'unknown whether the restore is complete'));
      cutter.letThrough();
      const { code } = await parley(['restore', path], through);
      return [code, await textAt(env)];
    };
    // The one was not kept, and is restored anew; the other was, and is not touched.
    expect(await Promise.all([lose('before'), lose('after')])).toEqual([
      [0, 'precious'],
      [1, 'precious'],
    ]);
  });
});

const folder = temporaryFolder();
const isMounted = Bun.spawnSync(['mount', '-t', 'tmpfs', 'tmpfs', folder], { stderr: 'ignore' }).exitCode === 0;
if (!isMounted) console.warn('skipped: a restore on a full disk. It takes the right to mount a file system.');

describe.skipIf(!isMounted)('a restore on a disk that is too small', () => {
  afterAll(() => void Bun.spawnSync(['umount', folder]));

  test('is refused, or whole: never said to be and damaged', async () => {
    const { path } = await backup(1_000);
    const sizeNeeded = async () => {
      const env = await emptyEnvironment('sqlite');
      await said(['restore', path], env);
      return statSync(join(env.PARLEY_DATA ?? '', 'parley.sqlite')).size;
    };
    const size = await sizeNeeded();
    const outcomes: string[] = [];
    // From where the log does not fit to where both of it and the database do.
    for (const times of [0.7, 1.3, 1.6, 2.6]) {
      Bun.spawnSync(['mount', '-o', `remount,size=${Math.ceil((size * times) / 4_096) * 4_096}`, folder]);
      const own = { PARLEY_DATA: join(folder, 'data'), PARLEY_DISK_RESERVE: '0' };
      const env = { ...(await emptyEnvironment('sqlite')), ...own };
      const { code } = await parley(['restore', path], env);
      outcomes.push(code === 0 ? stateOf(join(folder, 'data/parley.sqlite')) : (await leftIn(env)).join());
      rmSync(join(folder, 'data'), { recursive: true });
    }
    expect(outcomes).toEqual(['', '', '', 'ok']);
  });

  function stateOf(file: string): string {
    const database = new Database(file);
    try {
      const [row] = database.query<{ integrity_check: string }, []>('PRAGMA integrity_check').all();
      return row?.integrity_check ?? 'unknown';
    } catch (error) {
      return String(error);
    } finally {
      database.close();
    }
  }
});
