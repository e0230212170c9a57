import type { EngineName } from '../../server/test/support/engines.ts';
import { postgresMissing } from '../../server/test/support/postgres.ts';
import { readOrExit, runTool } from '../harness/arguments.ts';
import { readCommandLine, usage } from './command-line.ts';
import { http } from './http.ts';
import { parsers } from './parsers.ts';
import { attempt, type Draw, type Subject } from './subject.ts';
import { Target } from './target.ts';

const options = readOrExit(usage, readCommandLine);
const { suites, isChosen, runs, path } = options;

const done = { inputs: 0, requests: 0, failures: 0, statuses: new Map<number, number>() };

function fail(error: unknown): void {
  done.failures++;
  console.log(`FAILED ${(error as Error).message}\n`);
}

async function tryEach(
  seed: number,
  subjects: readonly Subject[],
  tryOne: (subject: Subject, draw: Partial<Draw>) => Promise<number>,
): Promise<void> {
  for (const one of subjects.filter(isChosen)) {
    await tryOne(one, { seed, runs, path }).then((inputs) => {
      done.inputs += inputs;
    }, fail);
  }
}

async function tryHttp(engine: EngineName, seed: number): Promise<void> {
  const target = await Target.open(engine);
  try {
    await tryEach(seed, http(() => target).subjects, (one, draw) => target.attempt(one, draw));
  } finally {
    for (const [status, count] of target.statuses) {
      done.requests += count;
      done.statuses.set(status, (done.statuses.get(status) ?? 0) + count);
    }
    await target.close().catch(fail);
  }
}

function summary(last: number): string {
  const seeds = options.seed === last ? `seed ${last}` : `seeds ${options.seed} to ${last}`;
  const statuses = [...done.statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  return `${seeds}: ${done.inputs} inputs, ${done.requests} requests, ${done.failures} failures\n${statuses.join(', ')}`;
}

/** Returns the chosen engines that are installed, and prints which is not. */
function availableEngines(): readonly EngineName[] {
  const { engines } = options;
  if (postgresMissing === undefined || !engines.includes('postgres') || !suites.includes('http')) return engines;
  if (engines.length > 1) console.log(`Nothing is tried on PostgreSQL. ${postgresMissing}`);
  else fail(new Error(postgresMissing));
  return engines.filter((engine) => engine !== 'postgres');
}

await runTool(async () => {
  const engines = availableEngines();
  const until = performance.now() + options.minutes * 60_000;
  let { seed } = options;
  for (; ; seed++) {
    if (suites.includes('parsers')) await tryEach(seed, parsers, (one, draw) => attempt(one, 'parsers', draw));
    if (suites.includes('http')) for (const engine of engines) await tryHttp(engine, seed);
    if (performance.now() >= until) break;
  }
  console.log(summary(seed));
  if (done.failures > 0) process.exitCode = 1;
});
