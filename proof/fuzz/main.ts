import type { EngineName } from '../../server/test/support/engines.ts';
import { postgresMissing } from '../../server/test/support/postgres.ts';
import { readOrEnd } from '../chaos/arguments.ts';
import { type Asked, readCommandLine, usage } from './command-line.ts';
import { http } from './http.ts';
import { parsers } from './parsers.ts';
import { Stage } from './stage.ts';
import { attempt, type Draw, type Subject } from './subject.ts';

/** What was done so far. */
const done = { inputs: 0, requests: 0, failures: 0, statuses: new Map<number, number>() };

function fail(error: unknown): void {
  done.failures++;
  console.log(`FAILED ${(error as Error).message}\n`);
}

/** Tries the subjects that are asked for. */
async function tryEach(
  asked: Asked,
  seed: number,
  subjects: readonly Subject[],
  tried: (subject: Subject, draw: Partial<Draw>) => Promise<number>,
): Promise<void> {
  for (const one of subjects.filter(asked.isAsked)) {
    try {
      done.inputs += await tried(one, { seed, runs: asked.runs, path: asked.path });
    } catch (error) {
      fail(error);
    }
  }
}

async function tryOn(engine: EngineName, asked: Asked, seed: number): Promise<void> {
  const stage = await Stage.open(engine);
  try {
    await tryEach(asked, seed, http(() => stage).subjects, (one, draw) => stage.attempt(one, draw));
  } finally {
    for (const [status, count] of stage.statuses) {
      done.requests += count;
      done.statuses.set(status, (done.statuses.get(status) ?? 0) + count);
    }
    await stage.close().catch(fail);
  }
}

async function round(asked: Asked, seed: number): Promise<void> {
  if (asked.suites.includes('parsers')) {
    await tryEach(asked, seed, parsers, (one, draw) => attempt(one, 'parsers', draw));
  }
  if (!asked.suites.includes('http')) return;
  for (const engine of asked.engines) await tryOn(engine, asked, seed);
}

function summary(from: number, to: number): string {
  const seeds = from === to ? `seed ${from}` : `seeds ${from} to ${to}`;
  const statuses = [...done.statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  return `${seeds}: ${done.inputs} inputs, ${done.requests} requests, ${done.failures} failures\n${statuses.join(', ')}`;
}

/** Those of the engines that are asked for that are there; says which is not. With CI set the support of the tests refuses that. */
function available({ engines, suites }: Asked): readonly EngineName[] {
  if (postgresMissing === undefined || !engines.includes('postgres') || !suites.includes('http')) return engines;
  if (engines.length > 1) console.log(`Nothing is tried on PostgreSQL. ${postgresMissing}`);
  else fail(new Error(postgresMissing));
  return engines.filter((engine) => engine !== 'postgres');
}

async function main(asked: Asked): Promise<void> {
  const engines = available(asked);
  const until = performance.now() + asked.minutes * 60_000;
  let { seed } = asked;
  for (; ; seed++) {
    await round({ ...asked, engines }, seed);
    if (performance.now() >= until) break;
  }
  console.log(summary(asked.seed, seed));
  if (done.failures > 0) process.exitCode = 1;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
await main(readOrEnd(usage, () => readCommandLine(process.argv.slice(2))));
process.exit();
