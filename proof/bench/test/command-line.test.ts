import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { readCommandLine, usage } from '../command-line.ts';

const refused = (...args: string[]) => {
  try {
    readCommandLine(args);
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
};

test('numbers that are none are refused', () => {
  expect(refused('--up-to', 'x')).toBe('--up-to takes a whole number from 10 to 1000000, not x');
  expect(refused('--up-to', '1')).toBe('--up-to takes a whole number from 10 to 1000000, not 1');
  expect(refused('--rounds', '1.5')).toBe('--rounds takes a whole number from 1 to 1000, not 1.5');
  expect(refused('--seconds', '0')).toBe('--seconds takes a number from 0.01 to 600, not 0');
  expect(refused('--seconds')).toBe('--seconds takes a value');
  expect(refused('--nosuch')).toBe('There is no option --nosuch');
  expect(refused('--seconds', '0.1', '--rounds', '1', '--up-to', '10')).toBeUndefined();
});

test('only figures that are taken with care are recorded', () => {
  const plain = 'Figures are worth recording from 5 rounds of 0.8 s on';
  expect(refused('--record', '--rounds', '4')).toBe(plain);
  expect(refused('--record', '--seconds', '0.7')).toBe(plain);
  expect(refused('--record', '--tiny')).toBe('Figures of --tiny are not worth recording');
  expect(refused('--record', '--profile')).toBe('Figures are lower with --profile, and not worth recording');
  expect(refused('--record', '--seconds', '1', '--rounds', '6')).toBeUndefined();
});

test('curves end where it is said, and have two points at least', () => {
  const asked = readCommandLine(['--up-to', '100']);
  expect(asked === 'help' ? undefined : asked.plan.sizes.growth).toEqual({
    messages: [1_000, 10_000],
    webhooks: [1, 10, 100],
    chats: [1, 10, 100],
    connections: [1, 8, 64],
    deliveries: [1_000, 10_000],
  });
});

test('the usage names every option that there is', () => {
  for (const name of ['seconds', 'rounds', 'up-to', 'json', 'record', 'check', 'profile', 'tiny']) {
    expect(usage.split('measurements:')[0]).toContain(`[--${name}`);
  }
});

test('what cannot be understood ends with 2, and says why in one line', async () => {
  const command = [process.execPath, join(import.meta.dir, '../main.ts'), 'nosuchname'];
  const bench = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' });
  const [said, complaint] = await Promise.all([new Response(bench.stdout).text(), new Response(bench.stderr).text()]);
  expect(await bench.exited).toBe(2);
  expect(said).toBe('');
  expect(complaint).toBe('There is no measurement named nosuchname. --help tells more.\n');
});

test('flags are told from what takes a value', () => {
  const asked = readCommandLine(['--check', 'send', '--rounds', '7', '--tiny']);
  expect(asked).toMatchObject({ check: true, tiny: true, record: false, profile: false });
  expect(readCommandLine(['--help', '--nosuch'])).toBe('help');
});
