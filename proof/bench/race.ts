import { Child } from '../harness/child.ts';
import { median, sum } from '../harness/report.ts';
import { type Doubt, doubtsAboutBaseline } from './doubt.ts';
import type { Job, Load } from './load.ts';
import type { Pace } from './plan.ts';

/** A server's process, and the requests to send to it. */
export interface Racer {
  readonly pid: number;
  readonly port: number;
  readonly requests: readonly string[];
  /** 64 by default. */
  readonly connections?: number;
  /** Requests a second at fixed times; as many as possible by default. */
  readonly perSecond?: number;
  /** Time under load before each measured window; 0.1 by default. */
  readonly leadSeconds?: number;
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
  /** Responses with 200, warm-up included. */
  readonly answers: number;
}

/** The result of one side in one round. Times and `cpuMicros` only exist for requests. */
export type Round = Partial<Side> & Pick<Side, 'perSecond' | 'answers'>;

export interface RaceResult {
  readonly baseline: Side;
  readonly contender: Side;
  /** The median of the rounds' ratios. */
  readonly ratio: number;
  readonly ratios: readonly number[];
  readonly doubts?: readonly Doubt[];
}

/** The loads of each round; that of the warm-up apart. */
export interface Rounds {
  readonly warmUp: Load;
  readonly measured: readonly Load[];
}

/**
 * Loads all racers in turn, round by round. A shared machine is faster one second and slower the next. Neighbouring rounds
 * see nearly the same of it, so the ratio of each pair is worth more than that of two long runs.
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

export async function raceTwo(baseline: Racer, contender: Racer, pace: Pace): Promise<[Rounds, Rounds]> {
  const [theirs, ours] = await raceAll([baseline, contender], pace);
  if (!theirs || !ours) throw new Error('a race needs two racers');
  return [theirs, ours];
}

export async function race(baseline: Racer, contender: Racer, pace: Pace): Promise<RaceResult> {
  const [theirs, ours] = await raceTwo(baseline, contender, pace);
  const ratios = ratiosOf(theirs, ours, (load) => load.perSecond);
  const sides = { baseline: sideOf(theirs), contender: sideOf(ours) };
  return { ...sides, ratio: median(ratios), ratios, doubts: doubtsAboutBaseline(sides.baseline) };
}

/** Compares two sides round by round. */
export function compare(theirs: readonly Round[], ours: readonly Round[]): RaceResult {
  const ratios = ours.map((round, i) => round.perSecond / (theirs[i]?.perSecond ?? Number.NaN));
  return { baseline: medianSide(theirs), contender: medianSide(ours), ratio: median(ratios), ratios };
}

/** Returns the ratio of the second to the first, round by round. */
export const ratiosOf = (first: Rounds, second: Rounds, of: (load: Load) => number): number[] =>
  second.measured.map((load, i) => of(load) / of(first.measured[i] ?? load));

/** Returns the processor time of the server for one request, in µs. */
export const cpuMicros = ({ serverBusy, perSecond }: Load): number | undefined =>
  serverBusy && (serverBusy / perSecond) * 1e6;

export function sideOf({ warmUp, measured }: Rounds): Side {
  const side = medianSide(measured.map((load) => ({ ...load, cpuMicros: cpuMicros(load) })));
  return { ...side, answers: warmUp.answers + side.answers };
}

function medianSide(rounds: readonly Round[]): Side {
  const known = (key: keyof Side) => {
    const values = rounds.map((round) => round[key]).filter((value) => value !== undefined);
    return values.length > 0 ? median(values) : undefined;
  };
  return {
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    p50Ms: known('p50Ms') ?? 0,
    p99Ms: known('p99Ms') ?? 0,
    serverBusy: known('serverBusy'),
    loadBusy: known('loadBusy'),
    cpuMicros: known('cpuMicros'),
    answers: sum(rounds, ({ answers }) => answers),
  };
}

/** Loads a server for a while. Fails if any request fails. */
export async function load(racer: Racer, seconds: number): Promise<Load> {
  const { pid, port, requests, connections = 64, perSecond, leadSeconds = 0.1 } = racer;
  const input: Job = { pid, port, requests, connections, perSecond, leadSeconds, seconds };
  await using child = new Child('proof/bench/load.ts', { input });
  const result = await child.line<Load>();
  if (result.failures > 0) throw new Error(`${result.failures} requests failed; the first: ${result.firstFailure}`);
  return result;
}
