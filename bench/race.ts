import { join } from 'node:path';
import type { Job, Load } from './load.ts';
import { endWithUs } from './machine.ts';

/** One of the two that are compared: a server's process and what to ask of it. */
export interface Racer {
  readonly pid: number;
  readonly port: number;
  readonly requests: readonly string[];
}

export interface Side {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly serverBusy: number | undefined;
  readonly loadBusy: number | undefined;
  /** Processor time of the server for one request, in µs. */
  readonly cpuMicros: number | undefined;
  /** Answers with 200 in all, warm-up included. */
  readonly answers: number;
}

export interface RaceResult {
  readonly baseline: Side;
  readonly contender: Side;
  /** The median of the rounds' ratios. */
  readonly ratio: number;
  readonly ratios: readonly number[];
}

export interface Pace {
  readonly seconds: number;
  readonly rounds: number;
}

const warmUpSeconds = 1.5;

/**
 * Loads the two in turn, round by round. A shared machine is faster one second and slower the next: neighbouring rounds
 * see nearly the same of it, so the ratio of each pair is worth more than that of two long runs.
 */
export async function race(
  baseline: Racer,
  contender: Racer,
  pace: Pace,
  afterRound: () => Promise<void> = async () => {},
): Promise<RaceResult> {
  const loads: { baseline: Load[]; contender: Load[] } = { baseline: [], contender: [] };
  for (let round = 0; round <= pace.rounds; round++) {
    const seconds = round === 0 ? warmUpSeconds : pace.seconds;
    loads.baseline.push(await load(baseline, seconds));
    loads.contender.push(await load(contender, seconds));
    await afterRound();
  }
  const measured = { baseline: loads.baseline.slice(1), contender: loads.contender.slice(1) };
  const ratios = measured.contender.map((l, i) => l.perSecond / (measured.baseline[i]?.perSecond ?? 0));
  const side = (all: readonly Load[], counted: readonly Load[]): Side => ({
    perSecond: median(counted.map((l) => l.perSecond)),
    p50Ms: median(counted.map((l) => l.p50Ms)),
    p99Ms: median(counted.map((l) => l.p99Ms)),
    serverBusy: medianOfKnown(counted.map((l) => l.serverBusy)),
    loadBusy: medianOfKnown(counted.map((l) => l.loadBusy)),
    cpuMicros: medianOfKnown(counted.map((l) => l.serverBusy && (l.serverBusy / l.perSecond) * 1e6)),
    answers: all.reduce((sum, l) => sum + l.answers, 0),
  });
  return {
    baseline: side(loads.baseline, measured.baseline),
    contender: side(loads.contender, measured.contender),
    ratio: median(ratios),
    ratios,
  };
}

export async function load({ pid, port, requests }: Racer, seconds: number, connections = 64): Promise<Load> {
  const job: Job = { pid, port, requests, connections, leadSeconds: 0.1, seconds };
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'load.ts')], {
    stdin: new Blob([JSON.stringify(job)]),
    stdout: 'pipe',
    stderr: 'inherit',
  });
  endWithUs(child);
  const said = await new Response(child.stdout).text();
  const code = await child.exited;
  if (code !== 0) throw new Error(`the load generator ended with ${code}`);
  const result = JSON.parse(said) as Load;
  if (result.failures > 0) throw new Error(`${result.failures} requests failed; the first: ${result.firstFailure}`);
  return result;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

function medianOfKnown(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((v) => v !== undefined);
  return known.length > 0 ? median(known) : undefined;
}
