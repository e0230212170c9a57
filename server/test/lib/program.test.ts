import { describe, expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { programOf, type Start } from '../../lib/program.ts';
import { temporaryFolder } from '../support/cleanup.ts';

const checkout = join(import.meta.dir, '../../..');
const started = (from: Start['from'], start: Partial<Start> = {}) =>
  programOf({ from, env: {}, cwd: '/', argv0: 'bun', execPath: '/nowhere/bun', ...start });

describe('an executable', () => {
  const folder = join(temporaryFolder(), 'two words');
  const file = join(folder, 'parley');
  const other = join(temporaryFolder(), 'parley');
  mkdirSync(folder);
  for (const path of [file, other]) copyFileSync('/bin/true', path);
  const typed = (argv0: string, start: Partial<Start> = {}) =>
    started('executable', { argv0, execPath: file, cwd: folder, ...start }).program;

  test('is called as it was typed', () => {
    expect(typed('./parley')).toBe('./parley');
    expect(typed('two words/parley', { cwd: join(folder, '..') })).toBe("'two words/parley'");
    expect(typed('parley', { env: { PATH: folder } })).toBe('parley');
    const linked = temporaryFolder();
    symlinkSync(file, join(linked, 'chat'));
    expect(typed('chat', { env: { PATH: linked } })).toBe('chat');
  });

  test('is called by its path if a shell would not find it, or would find another program', () => {
    expect(typed('parley')).toBe(`'${file}'`);
    expect(typed('parley', { env: { PATH: join(other, '..') } })).toBe(`'${file}'`);
    expect(typed('anything')).toBe(`'${file}'`);
  });

  test('starts the server and makes backups itself', () => {
    expect(started('executable', { argv0: './parley', execPath: file, cwd: folder })).toEqual({
      program: './parley',
      startCommand: './parley serve',
      backupCommand: './parley backup "parley-$(date +%F-%H%M).backup"',
    });
  });
});

test('a package is called by its command, or by its name where npx has run it', () => {
  expect(started('package')).toMatchObject({ program: 'parley', startCommand: 'parley serve' });
  expect(started('package', { env: { npm_command: 'exec' } }).program).toBe('npx @parley-chat/cli');
});

test('npx parley is for a checkout only: elsewhere it is the package of another project', () => {
  const npx = 'npx parley';
  expect(started('source', { cwd: checkout })).toMatchObject({ program: npx, startCommand: 'npm start' });
  // npm would start it in the root of the checkout.
  const inside = started('source', { cwd: join(checkout, 'deploy') });
  expect(inside).toMatchObject({ program: npx, startCommand: 'npx parley serve' });
  for (const cwd of ['/', `${checkout}-other`]) {
    const program = join(checkout, 'node_modules/.bin/parley');
    expect(started('source', { cwd })).toMatchObject({ program, startCommand: `${program} serve` });
  }
});

test('in a container the image says how it is reached, and a backup leaves the container', () => {
  const env = { PARLEY_PROGRAM: 'docker exec chat bun cli/main.ts', PARLEY_START: 'docker start chat' };
  expect(started('source', { env })).toEqual({
    program: 'docker exec chat bun cli/main.ts',
    startCommand: 'docker start chat',
    backupCommand: 'docker exec chat bun cli/main.ts backup - >"parley-$(date +%F-%H%M).backup"',
  });
  expect(started('package', { env: { PARLEY_PROGRAM: '', PARLEY_START: '' } })).toMatchObject({ program: 'parley' });
});
