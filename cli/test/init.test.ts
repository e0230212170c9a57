import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { readSettings } from '@parley/server/config.ts';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { failed, parleyIn } from './parley.ts';

const written = (folder: string) => parseEnv(readFileSync(join(folder, '.env'), 'utf8')) as Record<string, string>;

test('init writes settings that a server takes, for its owner only, and never replaces them', async () => {
  const folder = temporaryFolder();
  expect(await parleyIn(folder, ['init', '--url', 'https://chat.example.com'], {})).toMatchObject({ code: 0 });
  const env = written(folder);
  const settings = readSettings(env);
  expect(settings.publicUrl?.href).toBe('https://chat.example.com/');
  expect(settings.secretKey).toHaveLength(32);
  expect(settings.backupEvery).toBe(86_400_000);
  expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600);
  expect(await parleyIn(folder, ['init'], {})).toEqual(failed(1, 'exists already. It was not changed'));
  expect(written(folder)).toEqual(env);
});

test('init says how to start the server, with compose where its file is', async () => {
  const [folder, deploy] = [temporaryFolder(), join(temporaryFolder(), 'two words')];
  mkdirSync(deploy);
  writeFileSync(join(deploy, 'compose.single.yaml'), '');
  const words = ['init', '--url', 'https://chat.example.com'];
  expect((await parleyIn(folder, words, {})).stderr).toBe('Start the server: npm start. Then: npx parley status\n');
  const compose = `docker compose -f '${deploy}/compose.single.yaml'`;
  const start = `Start the server: ${compose} up -d --build --wait. Then: ${compose} logs node\n`;
  expect((await parleyIn(deploy, words, {})).stderr).toBe(start);
  expect(readFileSync(join(import.meta.dir, '../../deploy/compose.single.yaml'), 'utf8')).toMatch(/^ {2}node:$/m);
});

test('init leaves the key of an existing data folder alone', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'mine'));
  writeFileSync(join(folder, 'mine/secret.key'), 'x');
  expect(await parleyIn(folder, ['init', '--data', 'mine'], {})).toMatchObject({ code: 0 });
  expect(written(folder)).toMatchObject({ PARLEY_DATA: 'mine', HOST: '127.0.0.1' });
  expect(written(folder)).not.toHaveProperty('PARLEY_SECRET_KEY');
});

test('init takes the data folder of the environment, unless another one is given', async () => {
  const [folder, data] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(data, 'secret.key'), 'x');
  expect(await parleyIn(folder, ['init'], { PARLEY_DATA: data })).toMatchObject({ code: 0 });
  expect(written(folder)).toMatchObject({ PARLEY_DATA: data });
  expect(written(folder)).not.toHaveProperty('PARLEY_SECRET_KEY');
  const other = temporaryFolder();
  expect(await parleyIn(other, ['init', '--data', 'mine'], { PARLEY_DATA: data })).toMatchObject({ code: 0 });
  expect(written(other)).toMatchObject({ PARLEY_DATA: 'mine', PARLEY_SECRET_KEY: expect.any(String) });
});

test('init refuses a URL that the server would refuse', async () => {
  const folder = temporaryFolder();
  for (const url of ['https://example.com/chat', 'https://example.com/?a=b', 'chat.example.com', 'ftp://example.com']) {
    const line = `--url must be a URL such as https://chat.example.com, without a path, not "${url}".`;
    expect(await parleyIn(folder, ['init', '--url', url], {})).toEqual(failed(2, line));
  }
  expect(existsSync(join(folder, '.env'))).toBe(false);
});

test('commands that open the database read .env, and others do not', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, '.env'), 'PARLEY_DATA=elsewhere\nPARLEY_URL=http://127.0.0.1:9\n');
  const inside = join(folder, 'elsewhere');
  expect(await parleyIn(folder, ['user', 'list'], {})).toEqual(failed(1, `There is no Parley database in ${inside}`));
  expect(await parleyIn(folder, ['chats'], {})).toEqual(failed(1, 'You are not signed in at http://127.0.0.1:8080'));
});
