import { expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { othersWhile, ownTicks } from '../others.ts';

const isLinux = process.platform === 'linux';
const groupOf = (pid: number) =>
  readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ')[2];
/** Where the first process is of our group, as in a container, nobody is a stranger. */
const hasStrangers = isLinux && Bun.which('setsid') !== null && groupOf(1) !== groupOf(process.pid);

/** Works for a quarter of a second of processor time, however long that takes, and says that it has. */
const work = (done: string) => [
  process.execPath,
  '-e',
  `while (process.cpuUsage().user < 250_000); await Bun.write('${done}', '')`,
];
const ticks = 22;

async function growth(command: (done: string) => string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-test-'));
  try {
    const done = join(folder, 'done');
    const before = ownTicks();
    await Bun.spawn(command(done)).exited;
    while (!existsSync(done)) await Bun.sleep(20);
    return ownTicks() - before;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test.skipIf(!isLinux)('what a process of ours did is our own, also when it has ended', async () => {
  expect(await growth(work)).toBeGreaterThanOrEqual(ticks);
  expect(await growth((done) => ['sh', '-c', '"$@" & wait', 'sh', ...work(done)])).toBeGreaterThanOrEqual(ticks);
});

test.skipIf(!hasStrangers)('what a stranger did is not, and is seen', async () => {
  const began = performance.now();
  const { result, others } = await othersWhile(() => growth((done) => ['setsid', '--fork', ...work(done)]));
  expect(result).toBeLessThan(ticks);
  const seconds = (performance.now() - began) / 1_000;
  // What our own network traffic costs the kernel may hide a little of it.
  expect((others ?? 0) * cpus().length * seconds).toBeGreaterThan(0.1);
});
