import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { coreTimes } from './machine.ts';

/**
 * Returns the share of all cores that other processes, and the host of this machine, took during some work; undefined on
 * other systems than Linux. Interrupts count for nobody: most come from our own traffic.
 */
export async function othersWhile<T>(work: () => Promise<T>): Promise<{ result: T; others: number | undefined }> {
  const before = now();
  const result = await work();
  const after = now();
  if (!before || !after || after.all === before.all) return { result, others: undefined };
  const others = after.worked - before.worked - (after.own - before.own);
  return { result, others: Math.max(0, others) / (after.all - before.all) };
}

function now(): { all: number; worked: number; own: number } | undefined {
  const times = coreTimes();
  return times && { ...times, own: ownTicks() };
}

/**
 * Returns the processor time of this process and its descendants. PostgreSQL and NATS are no descendants, but stay in the
 * process group. So anything that a script without job control runs beside the bench counts as ours.
 */
export function ownTicks(): number {
  const all = readAll();
  const group = all.find(({ pid }) => pid === String(process.pid))?.group;
  return ticksOfTrees(all, (one) => one.group === group);
}

/** Returns the processor time of a process and its descendants. */
export const treeSeconds = (root: number): number => ticksOfTrees(readAll(), ({ pid }) => pid === String(root)) / 100;

function ticksOfTrees(all: readonly Stat[], isRoot: (one: Stat) => boolean): number {
  const found = new Set(all.filter(isRoot).map(({ pid }) => pid));
  for (let known = -1; known < found.size; ) {
    known = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.reduce((sum, { pid, ticks }) => (found.has(pid) ? sum + ticks : sum), 0);
}

type Stat = ReturnType<typeof read>[number];

const readAll = () => readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? read(name) : []));

function read(pid: string) {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return [];
  try {
    // The name is in brackets and may contain anything.
    const fields = readFileSync(file, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
    const [, parent = '', group = ''] = fields;
    /** `ticks`: its own time and that of its ended children. */
    return [{ pid, parent, group, ticks: fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) }];
  } catch {
    // It has just ended.
    return [];
  }
}

/** Returns the share of all cores that was idle during some work; undefined on other systems than Linux. */
export async function idleWhile<T>(work: () => Promise<T>): Promise<{ result: T; idle: number | undefined }> {
  const before = coreTimes();
  const result = await work();
  const after = coreTimes();
  if (!before || !after) return { result, idle: undefined };
  return { result, idle: (after.idle - before.idle) / (after.all - before.all) };
}
