import { beforeAll, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../server/test/support/cleanup.ts';
import { stepFor, stepsOf } from './tiers.ts';

const sources: Readonly<Record<string, string>> = {
  'cli/test/login.test.ts': '',
  'server/test/operations/chats.test.ts': "onAnyEngine('chats', () => {});",
  'server/test/store/store.test.ts': "onBothEngines('the store', () => {});",
  'server/test/pages/browser.full.test.ts': "onAnyEngine('pages', () => {});",
  'server/test/support/engines.ts': 'onAnyEngine(',
  'node_modules/x/x.test.ts': '',
};

let root: string;
beforeAll(() => {
  root = temporaryFolder();
  for (const [path, text] of Object.entries(sources)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
});

test('the quick tier is every test file that is not called full', async () => {
  expect(await stepsOf('quick', root)).toEqual([
    {
      files: ['cli/test/login.test.ts', 'server/test/operations/chats.test.ts', 'server/test/store/store.test.ts'],
      env: { PARLEY_TEST_TIER: 'quick' },
    },
  ]);
});

test('the rest is what the quick tier leaves out: one engine of some suites, and the full files', async () => {
  const [onPostgres, full] = await stepsOf('rest', root);
  expect(onPostgres).toMatchObject({
    files: ['server/test/operations/chats.test.ts'],
    env: { PARLEY_TEST_TIER: 'rest' },
  });
  expect('chats (PostgreSQL) > are listed').toMatch(new RegExp(onPostgres?.only ?? ''));
  expect('chats (SQLite) > are listed').not.toMatch(new RegExp(onPostgres?.only ?? ''));
  expect(full).toEqual({ files: ['server/test/pages/browser.full.test.ts'], env: {} });
});

test('words choose the files whose path contains one of them, whole', async () => {
  const { files, env } = await stepFor(['cli/', 'chats', 'browser'], root);
  expect(files).toEqual([
    'cli/test/login.test.ts',
    'server/test/operations/chats.test.ts',
    'server/test/pages/browser.full.test.ts',
  ]);
  expect(env).toEqual({});
  expect((await stepFor(['nothing of the kind'], root)).files).toEqual([]);
});
