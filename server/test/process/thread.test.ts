import { expect, test } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Environment, freshEnvironment } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { startsInVain, Talking } from '../support/process.ts';

const support = join(import.meta.dir, '../support');
const preload = join(support, 'other-thread.ts');

/** The environment of a server whose writer thread is another file. */
const withThread = async (file: string): Promise<Environment> => ({
  ...(await freshEnvironment('sqlite')),
  TEST_THREAD: join(support, file),
});

test('a server whose writer thread cannot start says so in one line and ends with code 1', async () => {
  expect(await startsInVain(await withThread('no-such-thread.ts'), preload)).toContain(
    'its writer thread cannot start',
  );
});

test('a server whose writer thread ends says so in one line and ends with code 1', async () => {
  const env = await withThread('mortal-thread.ts');
  const server = new Talking(env, preload);
  await server.url();
  const before = server.stderr.length;
  writeFileSync(join(env.PARLEY_DATA ?? '', 'end'), '');
  const { code, stderr } = await server.end();
  expect({ code, said: stderr.slice(before).trimEnd() }).toEqual({
    code: 1,
    said: expect.stringMatching(/^Parley has to stop: the writer thread of the database has ended.*$/),
  });
});

test('SIGTERM ends a server whose start does not finish', async () => {
  const env = await withThread('silent-thread.ts');
  const server = new Talking(env, preload);
  await eventually('the start waits', async () => existsSync(join(env.PARLEY_DATA ?? '', 'asked')) || undefined);
  server.kill('SIGTERM');
  expect(await server.end()).toEqual({ code: 0, stdout: '', stderr: '' });
});
