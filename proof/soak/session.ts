import { startPostgres } from '../../server/test/support/postgres.ts';
import { endSignals, exitAfter } from '../harness/arguments.ts';
import { describeMachine, leaveServerCore, warnIfFolderIsInMemory } from '../harness/machine.ts';
import { environment } from '../harness/stage.ts';
import type { Options } from './command-line.ts';
import { breachesOf, conclusion, countTables, figureTable, gained, judge, notes } from './report.ts';
import { type SoakResult, soak } from './run.ts';

/** The soak itself, apart from the terminal that started it. */

/** The first signal ends the load. npm may repeat it at once. A later one ends the process. */
function stopOnSignals(): AbortSignal {
  const stop = new AbortController();
  let since: number | undefined;
  for (const signal of endSignals) {
    process.on(signal, () => {
      if (since !== undefined && performance.now() - since > 1_000) process.exit(1);
      since ??= performance.now();
      stop.abort();
    });
  }
  return stop.signal;
}

/** The parent may be killed, and could not pass on a signal then. */
async function endWithParent(): Promise<never> {
  for await (const _ of Bun.stdin.stream());
  process.exit(1);
}

async function main(options: Options): Promise<void> {
  const stop = stopOnSignals();
  void endWithParent();
  leaveServerCore();
  const { engine, minutes, sendsPerSecond, seed } = options;
  console.log(
    `${describeMachine()}; ${engine}, ${sendsPerSecond} messages a second for ${minutes} minutes, seed ${seed}`,
  );
  warnIfFolderIsInMemory();
  const postgres = engine === 'postgres' ? await startPostgres({ fsync: true }) : undefined;
  const env = environment(postgres && { DATABASE_URL: await postgres.emptyDatabase() });
  await report(await soak({ env, ...options, stop, print: (line) => console.log(line) }), options);
}

async function report(result: SoakResult, { engine: database, seed, json }: Options): Promise<void> {
  const judged = judge(result);
  const broken = breachesOf(result, judged);
  console.log(`\n${figureTable(judged)}\n\n${countTables(result)}\n`);
  console.log(notes(result, judged).join('\n'));
  const isGrowing = judged.some(({ verdict, unit }) => verdict === 'growing' && unit === 'MB');
  for (const line of isGrowing ? gained(result.objects) : []) console.log(`more objects: ${line}`);
  for (const line of broken) console.log(`BROKEN: ${line}`);
  console.log(conclusion(broken, judged));
  const { watch, broken: _, ...facts } = result;
  const series = Object.fromEntries([...watch.figures, ...watch.rows, ['waits', watch.waits]]);
  const at = new Date().toISOString();
  const record = { at, machine: describeMachine(), database, seed, ...facts, judged, broken, series };
  await Bun.write(json, `${JSON.stringify(record, null, 2)}\n`);
  if (broken.length > 0) process.exitCode = 1;
}

await exitAfter(() => main(JSON.parse(process.argv[2] ?? 'null') as Options));
