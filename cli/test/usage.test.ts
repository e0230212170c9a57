import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
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
      expect(help).toStartWith('Usage: parley user add <name> [options]\n\nAdd a user. ');
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
      expect(helpFor(row, (await row.load()).command)).toStartWith(`Usage: parley ${row.name} `);
    }
  });
});

describe('the version', () => {
  test('is that of the package', async () => {
    expect(await said(['--version'])).toBe(packageJson.version);
  });

  test('is printed by npx from the root of the repository', async () => {
    const root = join(import.meta.dir, '../..');
    const { code, stdout } = await spawn(['npx', '--no-install', 'parley', '--version'], root, {});
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${packageJson.version}\n` });
  });
});

describe('a usage error', () => {
  test.each([
    [['sned', '1', 'hello'], 'There is no command "sned". See: parley help'],
    [['help', 'sned'], 'There is no command "sned". See: parley help'],
    [['user'], 'Choose one: parley user add, parley user list, parley user password. See: parley help'],
    [['user', 'ad', 'ada'], 'There is no command "user ad". Choose one: parley user add, '],
    [['--json', 'user', 'list'], 'Give a command before --json. See: parley help'],
    [['user', 'add'], '<name> is missing. See: parley user add --help'],
    [['user', 'add', 'ada', '--amdin'], "Unknown option '--amdin'."],
    [['user', 'add', 'ada', '--password', 'x', '--password-stdin'], 'Give --password or --password-stdin, not both.'],
    [['user', 'list', 'b\u001b[31m\n'], 'Unexpected argument "b\\u001b[31m\\n". See: parley user list --help'],
    [['send', '1', '-5', 'degrees'], 'Put -- before words that begin with a dash. See: parley send --help'],
  ])('is one line, with exit code 2: parley %p', async (words, line) => {
    expect(await parley(words)).toEqual(failed(2, line));
  });
});

test('a full disk is reported in one line, with exit code 1', async () => {
  const command = `${process.execPath} ${mainFile} help > /dev/full`;
  expect(await spawn(['sh', '-c', command], '/', {})).toEqual(failed(1, 'no space left on device'));
});
