import { parseArgs } from 'node:util';
import type { EngineName } from '../server/test/support/engines.ts';
import { postgresMissing } from '../server/test/support/postgres.ts';
import { http } from './http.ts';
import { parsers } from './parsers.ts';
import { Stage } from './stage.ts';
import { attempt, type Subject, usualSeed } from './subject.ts';

const usage = `npm run fuzz -- [parsers] [http] [--engine sqlite|postgres|both] [--only NAME] [--runs N] [--minutes N] [--seed N] [--path P]
parsers    everything that takes apart what others have written
http       every operation, alone and together; tokens for apps, pages, uploads, and bytes that are hardly HTTP
--engine   the database of the server (both)
--only     the subjects with this in their name
--runs     inputs for each subject (as many as the tests try)
--minutes  goes on with further seeds for this long, each time on a new server
--seed     the first seed (that of the tests, or by chance with --minutes)
--path     leads straight to the input that failed`;

function readArguments() {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2),
    allowPositionals: true,
    options: { engine: text, only: text, runs: text, minutes: text, seed: text, path: text, help: { type: 'boolean' } },
  });
  const unknown = positionals.find((name) => name !== 'parsers' && name !== 'http');
  if (unknown !== undefined) throw new Error(`there is no suite ${unknown}`);
  const minutes = readCount('minutes', values.minutes) ?? 0;
  return {
    help: values.help,
    suites: positionals.length > 0 ? positionals : ['parsers', 'http'],
    engines: readEngines(values.engine ?? 'both'),
    only: values.only,
    runs: readCount('runs', values.runs),
    path: values.path,
    until: performance.now() + minutes * 60_000,
    seed: readCount('seed', values.seed) ?? (minutes > 0 ? Math.floor(Math.random() * 1e9) : usualSeed),
  };
}

type Asked = ReturnType<typeof readArguments>;

function readCount(name: string, text: string | undefined): number | undefined {
  if (text !== undefined && !/^\d{1,10}$/.test(text)) throw new Error(`--${name} is a whole number, not ${text}`);
  return text === undefined ? undefined : Number(text);
}

function readEngines(asked: string): EngineName[] {
  if (asked === 'sqlite' || asked === 'postgres') return [asked];
  if (asked !== 'both') throw new Error(`--engine is sqlite, postgres or both, not ${asked}`);
  return postgresMissing === undefined ? ['sqlite', 'postgres'] : ['sqlite'];
}

/** What was done so far. */
const done = { inputs: 0, requests: 0, failures: 0, statuses: new Map<number, number>() };

function fail(error: unknown): void {
  done.failures++;
  console.log(`FAILED ${(error as Error).message}\n`);
}

/** Tries the subjects that are asked for; after each of them `check` says whether all is well. */
async function tryEach(
  asked: Asked,
  seed: number,
  where: string,
  subjects: readonly Subject[],
  check: () => Promise<void>,
): Promise<void> {
  for (const one of subjects.filter(({ name }) => name.includes(asked.only ?? ''))) {
    try {
      done.inputs += await attempt(one, where, { seed, runs: asked.runs, path: asked.path });
      await check();
    } catch (error) {
      fail(error);
    }
  }
}

async function tryOn(engine: EngineName, asked: Asked, seed: number): Promise<void> {
  const stage = await Stage.open(engine);
  try {
    await tryEach(asked, seed, `http --engine ${engine}`, http(() => stage).subjects, () => stage.check());
  } finally {
    for (const [status, count] of stage.statuses) {
      done.requests += count;
      done.statuses.set(status, (done.statuses.get(status) ?? 0) + count);
    }
    await stage.close().catch(fail);
  }
}

async function round(asked: Asked, seed: number): Promise<void> {
  if (asked.suites.includes('parsers')) await tryEach(asked, seed, 'parsers', parsers, async () => {});
  if (!asked.suites.includes('http')) return;
  for (const engine of asked.engines) await tryOn(engine, asked, seed);
}

function summary(from: number, to: number): string {
  const seeds = from === to ? `seed ${from}` : `seeds ${from} to ${to}`;
  const statuses = [...done.statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  return `${seeds}: ${done.inputs} inputs, ${done.requests} requests, ${done.failures} failures\n${statuses.join(', ')}`;
}

async function main(asked: Asked): Promise<void> {
  if (asked.help) return console.log(usage);
  let { seed } = asked;
  for (; ; seed++) {
    await round(asked, seed);
    if (performance.now() >= asked.until) break;
  }
  console.log(summary(asked.seed, seed));
  if (done.failures > 0) process.exitCode = 1;
}

function argumentsOrUsage(): Asked {
  try {
    return readArguments();
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    process.exit(1);
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
await main(argumentsOrUsage());
process.exit();
