import { expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { eventually } from '../server/test/support/eventually.ts';

const cleanup = join(import.meta.dir, '../server/test/support/cleanup.ts');

/** A test run of its own: it notes two processes, says their ids and its folder, and ends when its input does. */
const run = `
  const { endWithUs, startDaemon, temporaryFolder } = await import(${JSON.stringify(cleanup)});
  const daemon = await startDaemon(['sleep', '600']);
  const child = Bun.spawn(['sleep', '600']);
  endWithUs(child);
  const ended = Bun.spawn(['true']);
  endWithUs(ended);
  await ended.exited;
  console.log(temporaryFolder());
  for await (const _ of Bun.stdin.stream());
  process.kill(process.pid, 'SIGKILL');
`;

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    // A zombie has ended, and waits only for its parent.
    return !existsSync(`/proc/${pid}/stat`) || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

async function startRun() {
  const process_ = Bun.spawn([process.execPath, '-e', run], { stdin: 'pipe', stdout: 'pipe' });
  const { value } = await process_.stdout.getReader().read();
  const base = dirname(new TextDecoder().decode(value).trim());
  const notes = join(base, 'processes');
  return {
    notes,
    noted: () => readdirSync(notes).map(Number),
    /** Ends the run, and waits until its watchdog has done its work. */
    end: async () => {
      process_.stdin.end();
      await eventually('the folder of the run is removed', async () => !existsSync(base) || undefined);
    },
  };
}

test('the processes of a test run end with it, and those that ended before are forgotten', async () => {
  const one = await startRun();
  const noted = one.noted();
  expect(noted).toHaveLength(2);
  expect(noted.every(isAlive)).toBe(true);
  await one.end();
  await eventually('both have ended', async () => !noted.some(isAlive) || undefined);
});

test('a process that was given the id of one of ours lives on', async () => {
  const one = await startRun();
  const [ours = 0] = one.noted();
  const stranger = Bun.spawn(['sleep', '600']);
  try {
    // The note of an earlier process that had the stranger's id: it started at another time.
    writeFileSync(join(one.notes, String(stranger.pid)), '1');
    await one.end();
    await eventually('ours has ended', async () => !isAlive(ours) || undefined);
    expect(isAlive(stranger.pid)).toBe(true);
  } finally {
    stranger.kill('SIGKILL');
  }
});

const lastPid = '/proc/sys/kernel/ns_last_pid';

/** The system gives ids in turn, and root may say which was the last. Somebody else may be faster, so it takes several tries. */
async function startUnder(pid: number): Promise<Bun.Subprocess | undefined> {
  for (let tries = 0; tries < 200; tries++) {
    try {
      writeFileSync(lastPid, String(pid - 1));
    } catch {
      return undefined;
    }
    const child = Bun.spawn(['sleep', '600']);
    if (child.pid === pid) return child;
    child.kill('SIGKILL');
    await child.exited;
  }
  return undefined;
}

test.skipIf(process.getuid?.() !== 0 || !existsSync(lastPid))('so does one that really was given it', async () => {
  const one = await startRun();
  const [daemon = 0] = one.noted().sort((a, b) => a - b);
  process.kill(daemon, 'SIGKILL');
  await eventually('the daemon has ended', async () => !existsSync(`/proc/${daemon}`) || undefined);
  const stranger = await startUnder(daemon);
  try {
    await one.end();
    if (stranger) expect(isAlive(stranger.pid)).toBe(true);
  } finally {
    stranger?.kill('SIGKILL');
  }
});
