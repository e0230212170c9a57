import { join } from 'node:path';
import { endWithUs } from '../../server/test/support/cleanup.ts';
import { type Doubt, doubtsAboutBaseline } from './doubt.ts';
import type { Job, Load } from './load.ts';
import type { Pace } from './plan.ts';

/** One of those that are compared: a server's process and what to ask of it. */
export interface Racer {
  readonly pid: number;
  readonly port: number;
  readonly requests: readonly string[];
  /** 64 unless it says otherwise. */
  readonly connections?: number;
  /** Requests a second at fixed times; else as many as are answered. */
  readonly perSecond?: number;
  /** Called after each round of this one, with what came of it. */
  readonly afterRound?: (load: Load) => Promise<void>;
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
  readonly doubts?: readonly Doubt[];
}

/** What one did in each round; the first, of the warm-up, apart. */
export interface Rounds {
  readonly warmUp: Load;
  readonly measured: readonly Load[];
}

/**
 * Loads all in turn, round by round. A shared machine is faster one second and slower the next: neighbouring rounds see
 * nearly the same of it, so the ratio of each pair is worth more than that of two long runs.
 */
export async function raceAll(racers: readonly Racer[], pace: Pace): Promise<Rounds[]> {
  const loads: Load[][] = racers.map(() => []);
  for (let round = 0; round <= pace.rounds; round++) {
    for (const [i, racer] of racers.entries()) {
      const done = await load(racer, round === 0 ? pace.warmUpSeconds : pace.seconds);
      loads[i]?.push(done);
      await racer.afterRound?.(done);
    }
  }
  return loads.map(([warmUp, ...measured]) => {
    if (!warmUp) throw new Error('there was no round');
    return { warmUp, measured };
  });
}

export async function race(baseline: Racer, contender: Racer, pace: Pace): Promise<RaceResult> {
  const [theirs, ours] = await raceAll([baseline, contender], pace);
  if (!theirs || !ours) throw new Error('it takes two to race');
  const ratios = ratiosOf(theirs, ours, (load) => load.perSecond);
  const sides = { baseline: sideOf(theirs), contender: sideOf(ours) };
  return { ...sides, ratio: median(ratios), ratios, doubts: doubtsAboutBaseline(sides.baseline) };
}

/** How the second stands to the first, round by round. */
export const ratiosOf = (first: Rounds, second: Rounds, of: (load: Load) => number): number[] =>
  second.measured.map((load, i) => {
    const other = first.measured[i];
    return other ? of(load) / of(other) : Number.NaN;
  });

export const sideOf = ({ warmUp, measured }: Rounds): Side => ({
  perSecond: median(measured.map((l) => l.perSecond)),
  p50Ms: median(measured.map((l) => l.p50Ms)),
  p99Ms: median(measured.map((l) => l.p99Ms)),
  serverBusy: medianOfKnown(measured.map((l) => l.serverBusy)),
  loadBusy: medianOfKnown(measured.map((l) => l.loadBusy)),
  cpuMicros: medianOfKnown(measured.map((l) => l.serverBusy && (l.serverBusy / l.perSecond) * 1e6)),
  answers: [warmUp, ...measured].reduce((sum, l) => sum + l.answers, 0),
});

export async function load(racer: Racer, seconds: number): Promise<Load> {
  const { pid, port, requests, connections = 64, perSecond } = racer;
  const job: Job = { pid, port, requests, connections, perSecond, leadSeconds: 0.1, seconds };
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

export function medianOfKnown(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((v) => v !== undefined);
  return known.length > 0 ? median(known) : undefined;
}
