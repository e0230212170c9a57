import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine, folderIsInMemory, leaveServerCore } from '../bench/machine.ts';
import { environmentFor } from '../chaos/stage.ts';
import type { EngineName } from '../server/test/support/engines.ts';
import { postgresMissing } from '../server/test/support/postgres.ts';
import { breachesOf, countTables, figureTable, gained, judge, notes } from './report.ts';
import { type SoakResult, soak } from './run.ts';

const usage = `npm run soak -- [--minutes N] [--database sqlite|postgres] [--rate N] [--seed N] [--json file]
--minutes   how long the load lasts (30)
--database  what the server keeps its data in (sqlite)
--rate      messages sent in a second; everything else goes along with them (200)
--seed      draws the same texts, people and troubles again; by chance without it
--json      where the figures go (soak/results/<database>.json)
Ctrl-C ends the load and judges what there is; a second one ends at once.`;

const databases: Readonly<Record<string, EngineName>> = { sqlite: 'sqlite', postgres: 'postgres' };

function readArguments() {
  const { values } = parseArgs({
    args: process.argv.slice(2),
    options: {
      minutes: { type: 'string', default: '30' },
      database: { type: 'string', default: 'sqlite' },
      rate: { type: 'string', default: '200' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const engine = databases[values.database];
  if (!engine) throw new Error(`--database is sqlite or postgres, not ${values.database}`);
  const number = (name: 'minutes' | 'rate' | 'seed', isGood: (value: number) => boolean) => {
    const value = Number(values[name]);
    if (!isGood(value)) throw new Error(`--${name} cannot be ${values[name]}`);
    return value;
  };
  return {
    help: values.help,
    engine,
    json: values.json ?? join(import.meta.dir, `results/${engine}.json`),
    minutes: number('minutes', (value) => value > 0 && value <= 10_000),
    sendsPerSecond: number('rate', (value) => value >= 1 && value <= 10_000),
    seed: number('seed', Number.isSafeInteger),
  };
}

/** The first signal ends the load; npm may pass on the same one at once. Another one later ends the process. */
function stopOnSignals(): AbortSignal {
  const stop = new AbortController();
  let since: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (since !== undefined && performance.now() - since > 1_000) process.exit(1);
      since ??= performance.now();
      stop.abort();
    });
  }
  return stop.signal;
}

async function main({ help, engine, json, ...asked }: ReturnType<typeof readArguments>): Promise<void> {
  if (help) return console.log(usage);
  if (process.platform !== 'linux') throw new Error('The soak looks at processes as Linux tells of them.');
  if (engine === 'postgres' && postgresMissing) throw new Error(postgresMissing);
  const stop = stopOnSignals();
  leaveServerCore();
  console.log(
    `${describeMachine()}; ${engine}, ${asked.sendsPerSecond} messages a second for ${asked.minutes} minutes, seed ${asked.seed}`,
  );
  if (folderIsInMemory()) console.log('The temporary folder is in memory: set TMPDIR to a folder on a disk.');
  const env = await environmentFor(engine);
  const result = await soak({ env, ...asked, stop, tell: (line) => console.log(line) });
  await report(result, engine, asked.seed, json);
}

async function report(result: SoakResult, database: EngineName, seed: number, json: string): Promise<void> {
  const judged = judge(result);
  const broken = breachesOf(result, judged);
  console.log(`\n${figureTable(judged)}\n\n${countTables(result)}\n`);
  console.log(notes(result, judged).join('\n'));
  const isGrowing = judged.some(({ verdict, unit }) => verdict === 'growing' && unit === 'MB');
  for (const line of isGrowing ? gained(result.kinds) : []) console.log(`more objects: ${line}`);
  for (const line of broken) console.log(`BROKEN: ${line}`);
  console.log(broken.length === 0 ? 'Nothing is broken.' : `${broken.length} things are broken.`);
  const { plan, sendsPerSecond, seconds, acts, counts, told, kinds, watch } = result;
  const series = Object.fromEntries([...watch.figures, ...watch.kept, ['waits', watch.waits]]);
  const facts = {
    at: new Date().toISOString(),
    machine: describeMachine(),
    database,
    seed,
    plan,
    sendsPerSecond,
    seconds,
  };
  const record = { ...facts, judged, acts, counts, told, broken, kinds, series };
  await Bun.write(json, `${JSON.stringify(record, null, 2)}\n`);
  if (broken.length > 0) process.exitCode = 1;
}

function argumentsOrUsage() {
  try {
    return readArguments();
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    process.exit(1);
  }
}

try {
  await main(argumentsOrUsage());
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
// Its exit handlers end what it started and remove its folders.
process.exit();
