import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parley, said } from './parley.ts';

const folder = join(import.meta.dir, '..');
const files = [...new Bun.Glob('**/*.ts').scanSync(folder)].filter((file) => !/^(test|node_modules)\//.test(file));

test('commands use their process through the context alone', () => {
  const global =
    /\bprocess\.(env|argv|stdin|stdout|stderr|on|off|once|kill|exit|exitCode|cwd|chdir)\b|\bBun\.(stdin|env)\b/;
  const using = files.filter((file) => global.test(readFileSync(join(folder, file), 'utf8')));
  expect(using.sort()).toEqual(['main.ts', 'process-context.ts']);
});

test('commands that run beside each other in one process do not disturb each other', async () => {
  const [first, second, third] = await Promise.all([
    parley(['chats'], { PARLEY_URL: 'http://127.0.0.1:1', PARLEY_TOKEN: 'x' }),
    parley(['chats'], { PARLEY_URL: 'localhost', PARLEY_TOKEN: 'x' }),
    said(['--version']),
  ]);
  expect(first.stderr).toContain('http://127.0.0.1:1');
  expect(second.stderr).toContain('"localhost"');
  expect(third).toMatch(/^\d/);
});
