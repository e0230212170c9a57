import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What Linux tells of a process: what it has open, and its threads. */
export function handlesOf(pid: number): { descriptors: number; sockets: number; threads: number } {
  const open = readdirSync(`/proc/${pid}/fd`);
  return {
    descriptors: open.length,
    sockets: open.filter((number) => leadsTo(`/proc/${pid}/fd/${number}`).startsWith('socket:')).length,
    threads: readdirSync(`/proc/${pid}/task`).length,
  };
}

/** It may have been closed since it was listed. */
function leadsTo(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}

/** Seconds that the process's first thread was ready to run and had to wait, because something else had the core. */
export function waitedSeconds(pid: number): number {
  const [, waitedNs] = readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ');
  return Number(waitedNs) / 1e9;
}
