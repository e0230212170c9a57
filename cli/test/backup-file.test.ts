import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { emptyEnvironment, onPostgres } from '@parley/server/test/support/engines.ts';
import { startServer } from '@parley/server/test/support/server.ts';
import { SQL } from 'bun';
import { eventually } from '../../sdk/test/eventually.ts';
import { newPath } from './backups.ts';
import { failed, parley, said } from './parley.ts';
import { RunningCommand } from './running-command.ts';
import { SpawnedCommand } from './spawned-command.ts';

/** Backups that are being written to this file, or were cut off. */
const partsBeside = (path: string) => readdirSync(dirname(path)).filter((name) => name.endsWith('.part'));

onPostgres('a backup beside another one to the same file', () => {
  test('is complete when the command says so, whatever happens to a concurrent one', async () => {
    const env = await emptyEnvironment('postgres');
    const server = await startServer(env);
    await server.user('ada');
    const path = newPath();
    await using sql = new SQL(env.DATABASE_URL ?? '', { max: 1 });
    await using first = new RunningCommand(['backup', path, '--force'], { env });
    // Both have begun, and neither can go on.
    await sql.begin(async (tx) => {
      await tx.unsafe('LOCK TABLE audit IN ACCESS EXCLUSIVE MODE');
      await eventually('the first has begun', () => partsBeside(path).length === 1);
      await using second = new SpawnedCommand(['backup', path, '--force'], env);
      await eventually('the second has begun', () => partsBeside(path).length === 2);
      await second.kill('SIGKILL');
    });
    expect(await first.end()).toMatchObject({ code: 0, stdout: expect.stringContaining('Saved ') });
    await server.stop();
    expect(partsBeside(path).length).toBe(1);
    await said(['restore', path], await emptyEnvironment('sqlite'));
  });
});

onPostgres('a backup that is stopped', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)('by %s leaves no file', async (signal) => {
    const env = await emptyEnvironment('postgres');
    const server = await startServer(env);
    const path = newPath();
    await using sql = new SQL(env.DATABASE_URL ?? '', { max: 1 });
    await sql.begin(async (tx) => {
      await tx.unsafe('LOCK TABLE audit IN ACCESS EXCLUSIVE MODE');
      await using backup = new RunningCommand(['backup', path], { env });
      await eventually('it has begun', () => partsBeside(path).length === 1);
      await eventually('it waits for the table', async () => {
        const waiting = await tx.unsafe(`SELECT 1 FROM pg_locks WHERE relation = 'audit'::regclass AND NOT granted`);
        return waiting.length > 0;
      });
      expect(await backup.stop(signal)).toBe(signal);
      expect(backup.stderr).toBe('Stopped.\n');
    });
    expect(readdirSync(dirname(path))).toEqual([]);
    await server.stop();
  });
});

describe('the file of a backup', () => {
  test('is not replaced, unless that is asked for, and nobody else may read it', async () => {
    const env = await emptyEnvironment('sqlite');
    const server = await startServer(env);
    const path = newPath();
    writeFileSync(path, 'something else');
    expect(await parley(['backup', path], env)).toEqual(
      failed(1, 'already exists. Choose another name, or use --force.'),
    );
    expect(readFileSync(path, 'utf8')).toBe('something else');
    await said(['backup', path, '--force'], env);
    await server.stop();
    expect(readdirSync(dirname(path))).toEqual(['parley.backup']);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await said(['restore', path], await emptyEnvironment('sqlite'));
  });

  test('is not written if there is no server to back up', async () => {
    const env = await emptyEnvironment('sqlite');
    const path = newPath();
    expect(await parley(['backup', path], env)).toEqual(failed(1, 'There is no Parley database in '));
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  test('is not written where the database cannot be reached, and that is said', async () => {
    const path = newPath();
    const folder = `${import.meta.path}/data`;
    const refused = failed(1, `Cannot open the database in ${folder}: `);
    expect(await parley(['backup', path], { PARLEY_DATA: folder })).toEqual(refused);
    expect(readdirSync(dirname(path))).toEqual([]);
  });
});
