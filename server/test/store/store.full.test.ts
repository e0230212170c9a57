import { describe, expect, test } from 'bun:test';
import { readSettings } from '../../config.ts';
import { FolderError } from '../../store/data-folder/folder.ts';
import { openStore } from '../../store/engine/open.ts';
import { emptyEnvironment, onPostgres } from '../support/engines.ts';
import { spawnServer } from '../support/server.ts';

onPostgres('opening the store', () => {
  test('by four processes at once lets all of them serve', async () => {
    const env = { ...(await emptyEnvironment('postgres')), PARLEY_DATABASE_CONNECTIONS: '2' };
    const processes = await Promise.all(Array.from({ length: 4 }, () => spawnServer(env)));
    const answers = await Promise.all(processes.map(({ url }) => fetch(`${url}/readyz`)));
    expect(answers.map((a) => a.status)).toEqual([200, 200, 200, 200]);
    await Promise.all(processes.map((p) => p.kill('SIGKILL')));
  });
});

describe('the data folder', () => {
  test('allows one server at a time, refuses a second in one line, and is free after kill -9', async () => {
    const env = await emptyEnvironment('sqlite');
    const first = await spawnServer(env);
    const refusal = await openStore(readSettings(env), Date.now).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(FolderError);
    expect((refusal as Error).message).toContain('Another Parley server');
    expect((refusal as Error).message).not.toContain('\n');
    await expect(spawnServer(env)).rejects.toThrow('Another Parley server');
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
    await first.kill('SIGKILL');
    const second = await spawnServer(env);
    expect((await fetch(`${second.url}/readyz`)).status).toBe(200);
    await second.kill('SIGKILL');
  });
});
