import { describe, expect, test } from 'bun:test';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { eventually } from '@parley/server/test/support/eventually.ts';
import { commands } from '../commands.ts';
import packageJson from '../package.json' with { type: 'json' };
import { helpFor } from '../run.ts';
import { failed, parley, said } from './parley.ts';
import { mainFile, spawn } from './spawned-command.ts';

describe('the help', () => {
  test.each([[[]], [['help']], [['--help']]])('names every command: parley %p', async (words) => {
    const help = await said(words);
    for (const { name, summary } of commands) {
      expect(help).toMatch(new RegExp(`^  ${name} +${RegExp.escape(summary)}$`, 'm'));
    }
  });

  test.each([[['user', 'add', '--help']], [['help', 'user', 'add']]])(
    'describes one command: parley %p',
    async (words) => {
      const help = await said(words);
      expect(help).toStartWith('Usage: npx parley user add <name> [options]\n\nAdd a user. ');
      expect(help).toMatch(/^ {2}--display-name <text> {2}\S/m);
    },
  );

  test.each([[['help', 'token']], [['token', '--help']]])('describes a group: parley %p', async (words) => {
    const help = await said(words);
    expect(help).toMatch(/^ {2}token create .*\n {2}token list .*\n {2}token revoke /m);
    expect(help).not.toMatch(/^ {2}user add/m);
  });

  test('exists for every command', async () => {
    for (const row of commands) {
      expect(helpFor(row, (await row.load()).command)).toStartWith(`Usage: npx parley ${row.name} `);
    }
  });
});

test('every command in a text is typed as the program was: none is written by hand', () => {
  const root = join(import.meta.dir, '../..');
  const firsts = new Set(['help', ...commands.map(({ name }) => name.split(' ')[0])]);
  const byHand = new RegExp(`\\bparley (${[...firsts].join('|')})\\b|npx parley |npm ci`);
  // The reference of the settings is about all ways.
  const files = [...new Bun.Glob('{cli,server,web}/**/*.{ts,tsx}').scanSync(root)].filter(
    (file) => !/(^|\/)(test|node_modules)\/|^server\/config\.ts$/.test(file),
  );
  expect(files).toContain('cli/run.ts');
  const lines = files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .filter((line) => byHand.test(line) && !/^\s*(\/\/|\/?\*)/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(lines).toEqual([]);
});

describe('the version', () => {
  test('is that of the package', async () => {
    expect(await said(['--version'])).toBe(packageJson.version);
  });

  test('is printed without Bun on the PATH', async () => {
    const program = join(import.meta.dir, '../../node_modules/.bin/parley');
    const path = temporaryFolder();
    symlinkSync(Bun.which('node') ?? '/nowhere', join(path, 'node'));
    const run = Bun.spawnSync([program, '--version'], { env: { PATH: path }, cwd: path });
    expect({ code: run.exitCode, stdout: run.stdout.toString() }).toEqual({
      code: 0,
      stdout: `${packageJson.version}\n`,
    });
  });

  test('is printed by npx from the root of the repository', async () => {
    const root = join(import.meta.dir, '../..');
    const { code, stdout } = await spawn(['npx', '--no-install', 'parley', '--version'], root, {});
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${packageJson.version}\n` });
  });
});

describe('a usage error', () => {
  test.each([
    [['sned', '1', 'hello'], 'There is no command "sned". Did you mean send? See: npx parley help'],
    [['frobnicate'], 'There is no command "frobnicate". See: npx parley help'],
    [['help', 'sned'], 'There is no command "sned". Did you mean send? See: npx parley help'],
    [['user'], 'Choose one: npx parley user add, npx parley user list, npx parley user password. See: npx parley help'],
    [['user', 'ad', 'ada'], 'There is no command "user ad". Did you mean user add? See: npx parley help'],
    [['user', 'frobnicate'], 'There is no command "user frobnicate". Choose one: npx parley user add, '],
    [['--json', 'user', 'list'], 'Give a command before --json. See: npx parley help'],
    [['user', 'add'], '<name> is missing. See: npx parley user add --help'],
    [
      ['user', 'add', 'ada', '--amdin'],
      "Unknown option '--amdin'. Did you mean --admin? See: npx parley user add --help",
    ],
    [['user', 'add', 'ada', '--password', 'x', '--password-stdin'], 'Give --password or --password-stdin, not both.'],
    [['user', 'list', 'b\u001b[31m\n'], 'Unexpected argument "b\\u001b[31m\\n". See: npx parley user list --help'],
    [['send', '1', '-5', 'degrees'], 'Put -- before words that begin with a dash. See: npx parley send --help'],
  ])('is one line, with exit code 2: parley %p', async (words, line) => {
    expect(await parley(words)).toEqual(failed(2, line));
  });
});

test('a full disk is reported in one line, with exit code 1', async () => {
  const command = `${process.execPath} ${mainFile} help > /dev/full`;
  expect(await spawn(['sh', '-c', command], '/', {})).toEqual(failed(1, 'no space left on device'));
});

test('the program for Node passes signals on, and ends as the command does', async () => {
  const child = Bun.spawn(['node', join(import.meta.dir, '../parley.mjs'), 'send', '1'], {
    env: { PATH: process.env.PATH ?? '', PARLEY_TOKEN: 'pat_x', PARLEY_URL: 'http://127.0.0.1:9' },
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
  });
  // It waits for the text of the message.
  await eventually('the command runs', async () => childrenOf(child.pid).length > 0 || undefined);
  child.kill('SIGTERM');
  await child.exited;
  expect({ signal: child.signalCode, left: childrenOf(child.pid) }).toEqual({ signal: 'SIGTERM', left: [] });
});

const childrenOf = (pid: number): string[] =>
  Bun.spawnSync(['pgrep', '-P', String(pid)])
    .stdout.toString()
    .split('\n')
    .filter(Boolean);
