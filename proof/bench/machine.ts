import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithUs } from '../../server/test/support/cleanup.ts';

/** The core of the server under test, and of the baseline that it is compared with. */
const serverCore = '0';

const cores = availableParallelism();
export const pinned = cores > 1 && Bun.which('taskset') !== null;

/** What keeps a server's process, every thread of it, on its one core. */
const onCore = (core: string) => (pinned ? ['taskset', '-c', core] : []);

/** Moves this process to the other cores, and with it all that it starts: the load generator, PostgreSQL. */
export function leaveServerCore(): void {
  if (pinned) Bun.spawnSync(['taskset', '-acp', `1-${cores - 1}`, String(process.pid)], { stdout: 'ignore' });
}

export function describeMachine(): string {
  const where = pinned ? `servers on core ${serverCore}, the rest on ${cores - 1} other` : 'nothing pinned to a core';
  return `${process.platform} ${process.arch}, ${cores} cores (${where}), Bun ${Bun.version}`;
}

/** Processor time that a process has used, as Linux tells; undefined elsewhere. */
export function cpuSeconds(pid: number): number | undefined {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return undefined;
  const fields = readFileSync(file, 'latin1').split(') ')[1]?.split(' ') ?? [];
  const ticksPerSecond = 100;
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

export function residentBytes(pid: number): number | undefined {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return undefined;
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(file, 'latin1'))?.[1]) * 1_024;
}

/** The share of all cores that did nothing while something ran; undefined where nobody tells. */
export async function idleWhile<T>(work: () => Promise<T>): Promise<{ result: T; idle: number | undefined }> {
  const before = coreTimes();
  const result = await work();
  const after = coreTimes();
  if (!before || !after) return { result, idle: undefined };
  return { result, idle: (after.idle - before.idle) / (after.all - before.all) };
}

/** What all cores together have done so far, in ticks; undefined where nobody tells. */
export function coreTimes(): { idle: number; worked: number; all: number } | undefined {
  if (!existsSync('/proc/stat')) return undefined;
  const times = (readFileSync('/proc/stat', 'latin1').split('\n')[0] ?? '').trim().split(/\s+/).slice(1, 9).map(Number);
  const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, , , stolen = 0] = times;
  const all = times.reduce((sum, time) => sum + time, 0);
  return { idle: idle + waiting, worked: user + nice + system + stolen, all };
}

/** In memory an fsync costs nothing, and durable figures mean nothing. */
export const folderIsInMemory = () => statfsSync(tmpdir()).type === 0x01021994;

export interface Child extends AsyncDisposable {
  readonly pid: number;
  readonly hasEnded: boolean;
  /** Throws with what the process said where it has ended. */
  check(): void;
  /** Ends the process at once. Does nothing if it has ended. */
  kill(): Promise<void>;
}

/** Starts a server on the servers' core. It ends with its scope, or else with this process. */
export const startOnServerCore = (
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  input?: string,
): Child => start([...onCore(serverCore), process.execPath, ...command], env, input);

/** Starts a second server, on a core that it shares with the rest where there are only two. */
export const startOnSecondCore = (command: readonly string[], env: Readonly<Record<string, string>>): Child =>
  start([...onCore('1'), process.execPath, ...command], env);

/** Starts what servers talk to, on the other cores. */
export const startBeside = (command: readonly string[], env: Readonly<Record<string, string>>): Child =>
  start([process.execPath, ...command], env);

function start(command: readonly string[], env: Readonly<Record<string, string>>, input?: string): Child {
  const child = Bun.spawn([...command], {
    cwd: join(import.meta.dir, '../..'),
    env: { PATH: process.env.PATH ?? '', ...env },
    stdin: input === undefined ? 'ignore' : new Blob([input]),
    stdout: 2,
    stderr: 'pipe',
  });
  endWithUs(child);
  let said = '';
  void (async () => {
    for await (const part of child.stderr) said += Buffer.from(part).toString();
  })();
  const endedWith = () => child.exitCode ?? child.signalCode;
  return {
    pid: child.pid,
    get hasEnded() {
      return endedWith() !== null;
    },
    check: () => {
      if (endedWith() !== null) throw new Error(`${command.join(' ')} ended with ${endedWith()}: ${said}`);
    },
    kill: async () => {
      child.kill('SIGKILL');
      await child.exited;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      const mercy = setTimeout(() => child.kill('SIGKILL'), 15_000);
      await child.exited;
      clearTimeout(mercy);
    },
  };
}

/** Waits until a server that was just started is ready. */
export const untilHealthy = (child: Child, port: number): Promise<void> =>
  untilAnswers(child, `http://127.0.0.1:${port}/healthz`);

/** Catches what hangs, and nothing else: a busy machine may take many times as long as an idle one. */
export const hangMs = 100_000;

export async function untilAnswers(child: Child, url: string): Promise<void> {
  for (const deadline = Date.now() + hangMs; Date.now() < deadline; await Bun.sleep(2)) {
    child.check();
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
  }
  throw new Error('the server does not answer');
}
