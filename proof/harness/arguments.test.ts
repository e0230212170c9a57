import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { readArguments, readDatabase, readNumber } from './arguments.ts';

test('options and words are told apart', () => {
  const typed = readArguments(['one', '--seed', '7', 'two', '--only=a b'], ['seed', 'only', 'path']);
  expect(typed).toEqual({ given: { seed: '7', only: 'a b' }, flags: [], words: ['one', 'two'] });
});

test('what there is not, or lacks its value, is refused in words of our own', () => {
  expect(() => readArguments(['--sed', '7'], ['seed'])).toThrow('There is no option --sed');
  expect(() => readArguments(['-s'], ['seed'])).toThrow('There is no option -s');
  expect(() => readArguments(['--seed'], ['seed'])).toThrow('--seed takes a value');
  expect(() => readArguments(['--seed='], ['seed'])).toThrow('--seed takes a value');
});

test('a number out of its bounds is told what they are', () => {
  const read = (typed: string) => readNumber('minutes', typed, { min: 0.01, max: 100 });
  expect([read('0.5'), read('100')]).toEqual([0.5, 100]);
  for (const typed of ['0', '-1', '101', '1e1', 'ten', 'NaN', 'Infinity', ' ']) {
    expect(() => read(typed)).toThrow(`--minutes takes a number from 0.01 to 100, not ${typed}`);
  }
});

test('a database is one of those that may be chosen', () => {
  expect(readDatabase('both', ['sqlite', 'postgres', 'both'])).toEqual(['sqlite', 'postgres']);
  expect(() => readDatabase('both', ['sqlite', 'postgres'])).toThrow('--database takes sqlite or postgres, not both');
});

const commands = ['bench', 'chaos', 'fuzz', 'soak'];

for (const name of commands) {
  const run = async (...args: string[]) => {
    const command = [process.execPath, join(import.meta.dir, '..', name, 'main.ts'), ...args];
    const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' });
    const [out, complaint] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { code: await child.exited, out, complaint };
  };

  test.concurrent(`${name} refuses what cannot be meant in one line, with the code of a misuse`, async () => {
    const complaint = 'There is no option --surprise. --help tells more.\n';
    expect(await run('--surprise', '1')).toEqual({ code: 2, out: '', complaint });
  });

  test.concurrent(`${name} tells how it is used where that is asked for`, async () => {
    const { code, out, complaint } = await run('--help', '--surprise');
    expect({ code, complaint }).toEqual({ code: 0, complaint: '' });
    expect(out).toStartWith(`npm run ${name} -- `);
  });
}
