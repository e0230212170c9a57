import { existsSync, readdirSync, readFileSync, readlinkSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';

/** The core of the server under test, and of the baseline that it is compared with. */
export const serverCore = 0;

const cores = availableParallelism();
export const pinned = cores > 1 && Bun.which('taskset') !== null;

/** Returns the command that pins a process with all its threads to a core. */
export const onCore = (core: number | undefined): string[] =>
  pinned && core !== undefined ? ['taskset', '-c', String(core)] : [];

/** Moves this process, and with it all that it starts from then on. */
function moveTo(core: string): void {
  if (pinned) Bun.spawnSync(['taskset', '-acp', core, String(process.pid)], { stdout: 'ignore' });
}

/** Moves this process to the other cores, and with it all that it starts: the load generator, PostgreSQL. */
export const leaveServerCore = (): void => moveTo(`1-${cores - 1}`);

/** Starts something that stays on the server's core. */
export async function startOnServerCore<T>(start: () => Promise<T>): Promise<T> {
  moveTo(String(serverCore));
  try {
    return await start();
  } finally {
    leaveServerCore();
  }
}

export function describeMachine(): string {
  const where = pinned ? `servers on core ${serverCore}, the rest on ${cores - 1} other` : 'nothing pinned to a core';
  return `${process.platform} ${process.arch}, ${cores} cores (${where}), Bun ${Bun.version}`;
}

/** In memory an fsync costs nothing, and durable figures mean nothing. */
export function warnIfFolderIsInMemory(): void {
  if (statfsSync(tmpdir()).type !== 0x01021994) return;
  console.log('The temporary folder is in memory: set TMPDIR to a folder on a disk.');
}

// The following read /proc. They return undefined on other systems than Linux, or fail where Linux is required.

const read = (file: string): string | undefined => (existsSync(file) ? readFileSync(file, 'latin1') : undefined);

/** Returns the processor time that a process has used. */
export function cpuSeconds(pid: number): number | undefined {
  const fields = read(`/proc/${pid}/stat`)?.split(') ')[1]?.split(' ');
  const ticksPerSecond = 100;
  return fields && (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/**
 * Starts to count the processor time of a process. Returns a function that returns the seconds since then, to the
 * microsecond, where `cpuSeconds` has steps of 10 ms. It misses the time of threads that have ended since then.
 */
export function countCpu(pid: number): () => number | undefined {
  const before = threadSeconds(pid);
  return () => {
    const after = threadSeconds(pid);
    return after && [...after].reduce((sum, [id, seconds]) => sum + seconds - (before?.get(id) ?? 0), 0);
  };
}

function threadSeconds(pid: number): ReadonlyMap<string, number> | undefined {
  const folder = `/proc/${pid}/task`;
  if (!existsSync(folder)) return undefined;
  const seconds = (id: string) => Number(read(`${folder}/${id}/schedstat`)?.split(' ')[0] ?? 0) / 1e9;
  return new Map(readdirSync(folder).map((id) => [id, seconds(id)]));
}

/** Returns the processor time of the first thread of a process, which runs JavaScript. */
export function firstThreadSeconds(pid: number): number | undefined {
  const time = read(`/proc/${pid}/task/${pid}/schedstat`)?.split(' ')[0];
  return time === undefined ? undefined : Number(time) / 1e9;
}

const memory = (pid: number, field: RegExp): number | undefined => {
  const status = read(`/proc/${pid}/status`);
  return status === undefined ? undefined : Number(field.exec(status)?.[1]) * 1_024;
};

export const residentBytes = (pid: number): number | undefined => memory(pid, /VmRSS:\s+(\d+) kB/);
export const peakBytes = (pid: number): number | undefined => memory(pid, /VmHWM:\s+(\d+) kB/);

export const mebibytes = (bytes: number | undefined): number => (bytes ?? 0) / 2 ** 20;

/** Returns what all cores together have done so far, in ticks. */
export function coreTimes(): { idle: number; worked: number; all: number } | undefined {
  const times = read('/proc/stat')?.split('\n')[0]?.trim().split(/\s+/).slice(1, 9).map(Number);
  if (!times) return undefined;
  const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, , , stolen = 0] = times;
  const all = times.reduce((sum, time) => sum + time, 0);
  return { idle: idle + waiting, worked: user + nice + system + stolen, all };
}

export const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

export function handlesOf(pid: number): { descriptors: number; sockets: number; threads: number } {
  const open = readdirSync(`/proc/${pid}/fd`).map((number) => targetOf(`/proc/${pid}/fd/${number}`));
  return {
    descriptors: open.length,
    sockets: open.filter((target) => target.startsWith('socket:')).length,
    threads: readdirSync(`/proc/${pid}/task`).length,
  };
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    // It was closed since it was listed.
    return '';
  }
}

/** Returns how long the first thread of a process was ready to run and waited for its core. */
export const waitedSeconds = (pid: number): number => Number(read(`/proc/${pid}/schedstat`)?.split(' ')[1]) / 1e9;
