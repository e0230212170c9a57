import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import type { Environment } from '@parley/server/test/support/engines.ts';
import { someBytes } from '@parley/server/test/support/files.ts';
import { Gate } from '@parley/server/test/support/gate.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import fc from 'fast-check';
import { eventually } from '../../sdk/test/eventually.ts';
import { bytesText } from '../bytes.ts';
import { progressLine, speedMeter } from '../progress-bar.ts';
import { RunningCommand } from './running-command.ts';
import { incomingBytes, sceneOn } from './scene.ts';
import { AtTerminal } from './spawned-command.ts';

const megabyte = 1_024 ** 2;

describe('bytes', () => {
  test.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [1_023, '1023 bytes'],
    [1_024, '1.0 KiB'],
    [1_048_575, '1.0 MiB'],
    [19.07 * megabyte, '19.1 MiB'],
    [2 * 1_024 ** 3, '2.0 GiB'],
    [5_000 * 1_024 ** 4, '5000.0 TiB'],
  ])('%p are %s', (bytes, text) => {
    expect(bytesText(bytes)).toBe(text);
  });
});

describe('the line of progress', () => {
  test('tells how much, how fast and how long', () => {
    const half = { done: 50 * megabyte, total: 100 * megabyte, speed: 0.5 * megabyte };
    expect(progressLine('Uploading', half, 80)).toBe(
      'Uploading  50%  [#####.....]  50.0 MiB of 100.0 MiB  512.0 KiB/s  1:40 left',
    );
    expect(progressLine('Uploading', { ...half, speed: undefined }, 120)).toBe(
      'Uploading  50%  [###############...............]  50.0 MiB of 100.0 MiB',
    );
    expect(progressLine('Uploading', { ...half, speed: 0 }, 40)).toBe('Uploading  50%  50.0 MiB of 100.0 MiB');
    expect(progressLine('Uploading', half, 65)).toBe('Uploading  50%  50.0 MiB of 100.0 MiB  512.0 KiB/s  1:40 left');
    expect(progressLine('Uploading', half, 20)).toBe('Uploading  50%');
    expect(progressLine('Uploading', { done: 0, total: 36_000_000, speed: 5_000 }, 120)).toEndWith('  2:00:00 left');
  });

  test('fits into every terminal', () => {
    const amount = fc.nat({ max: 4 * 1_024 ** 3 });
    fc.assert(
      fc.property(
        amount,
        amount,
        fc.option(amount, { nil: undefined }),
        fc.integer({ min: 2, max: 300 }),
        (...given) => {
          const [one, other, speed, columns] = given;
          const progress = { done: Math.min(one, other), total: Math.max(one, other), speed };
          expect(progressLine('Downloading', progress, columns).length).toBeLessThan(columns);
        },
      ),
    );
  });

  test('shows the speed of the last seconds, and starts over with the transfer', () => {
    const speedAt = speedMeter();
    expect(speedAt(0, 1_000)).toBeUndefined();
    expect(speedAt(1_000, 3_000)).toBe(2_000);
    for (let second = 2; second <= 20; second++) speedAt(second * 1_000, 3_000 + (second - 1) * 100);
    expect(speedAt(21_000, 5_000)).toBeCloseTo(100, 0);
    expect(speedAt(22_000, 0)).toBeUndefined();
    expect(speedAt(23_000, 500)).toBe(500);
  });
});

/** A command at a terminal. */
const atTerminal = (words: readonly string[], env: Environment) => new RunningCommand(words, { env, isTerminal: true });

describe('at a terminal', () => {
  const server = serverFor('sqlite');
  const path = join(temporaryFolder(), 'report.bin');
  writeFileSync(path, someBytes(20_000_000));

  const bar = (verb: string) => new RegExp(`\\r${verb} +\\d+%  \\[#*\\.*\\]  \\S+ \\w+ of 19\\.1 MiB`);
  const erased = '\r\x1b[K';

  test('an upload and a download show their progress, and leave only their results', async () => {
    const { env } = await sceneOn(server());
    const upload = atTerminal(['upload', path], env);
    const { code, stdout } = await upload.end();
    const id = stdout.trim();
    expect(code).toBe(0);
    const { seen } = upload.context;
    expect(seen).toEndWith(`${erased}${id}\nSend it with: npx parley send <chat_id> --file-id ${id}\n`);
    expect(seen).toMatch(bar('Uploading'));
    const download = atTerminal(['download', id], env);
    expect((await download.end()).code).toBe(0);
    expect(download.context.seen).toEndWith(`${erased}Saved report.bin, 19.1 MiB.\n`);
    expect(download.context.seen).toMatch(bar('Downloading'));
  });

  test('Ctrl-C ends an upload with a line of its own', async () => {
    using gate = await Gate.before(server().url);
    const { env } = await sceneOn(server());
    gate.holdAfter('up', 9_000_000);
    await using upload = new AtTerminal(['upload', path], { ...env, PARLEY_URL: gate.url });
    await eventually('it is under way', () => gate.holds && upload.seen.includes('Uploading'));
    upload.type('\x03');
    expect(await upload.end()).toEqual({ code: null, signal: 'SIGINT' });
    const line = `${erased}Stopped. Run the same command again to resume.\r\n`;
    await eventually('the line', () => upload.seen.endsWith(line));
  });

  test.each([[['--quiet']], [['--json']]])('nothing is shown with %p', async (words) => {
    const { env } = await sceneOn(server());
    const upload = atTerminal(['upload', path, ...words], env);
    expect((await upload.end()).code).toBe(0);
    expect(upload.context.seen).not.toContain('Uploading');
    expect(upload.context.seen).not.toContain('\x1b');
  });

  test('nothing is shown on a dumb terminal', async () => {
    const { env } = await sceneOn(server());
    const upload = atTerminal(['upload', path], { ...env, TERM: 'dumb' });
    expect((await upload.end()).code).toBe(0);
    expect(upload.context.seen).not.toContain('Uploading');
  });

  test('messages appear above the progress', async () => {
    using gate = await Gate.before(server().url);
    const { env } = await sceneOn(server());
    const through = { ...env, PARLEY_URL: gate.url };
    gate.holdAfter('up', 9_000_000);
    const before = incomingBytes(server().env);
    const first = atTerminal(['upload', path], through);
    await eventually('it is under way', () => gate.holds);
    await eventually('some of it is on disk', () => incomingBytes(server().env) > before + 2_000_000);
    expect(await first.stop('SIGINT')).toBe('SIGINT');
    // The sockets on the way may hold the rest of it, which is not to arrive.
    gate.cut();
    gate.open();
    const second = atTerminal(['upload', path], through);
    expect((await second.end()).code).toBe(0);
    expect(second.context.seen).toMatch(/^Resuming at \d+\.\d MiB of 19\.1 MiB\.\n\rUploading/);
  });
});
