import { describeMachine, folderIsInMemory, leaveServerCore } from '../bench/machine.ts';
import { given } from '../chaos/frame/say.ts';
import { environmentFor } from '../chaos/stage.ts';
import type { Asked } from './command-line.ts';
import { breachesOf, conclusion, countTables, figureTable, gained, judge, notes } from './report.ts';
import { type SoakResult, soak } from './run.ts';

/** The soak itself, apart from the terminal that it was asked for in. */

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

/** Whoever has asked for this may be killed, and nobody would be told of anything then. */
async function endWithWhoeverAsked(): Promise<never> {
  for await (const _ of Bun.stdin.stream());
  process.exit(1);
}

async function main({ engine, json, ...asked }: Asked): Promise<void> {
  const stop = stopOnSignals();
  void endWithWhoeverAsked();
  leaveServerCore();
  console.log(
    `${describeMachine()}; ${engine}, ${asked.sendsPerSecond} messages a second for ${asked.minutes} minutes, seed ${asked.seed}`,
  );
  if (folderIsInMemory()) console.log('The temporary folder is in memory: set TMPDIR to a folder on a disk.');
  const env = await environmentFor(engine);
  const result = await soak({ env, ...asked, stop, tell: (line) => console.log(line) });
  await report(result, { engine, json, ...asked });
}

async function report(result: SoakResult, { engine: database, seed, json }: Asked): Promise<void> {
  const judged = judge(result);
  const broken = breachesOf(result, judged);
  console.log(`\n${figureTable(judged)}\n\n${countTables(result)}\n`);
  console.log(notes(result, judged).join('\n'));
  const isGrowing = judged.some(({ verdict, unit }) => verdict === 'growing' && unit === 'MB');
  for (const line of isGrowing ? gained(result.kinds) : []) console.log(`more objects: ${line}`);
  for (const line of broken) console.log(`BROKEN: ${line}`);
  console.log(conclusion(broken, judged));
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

try {
  await main(given<Asked>());
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
// Its exit handlers end what it started and remove its folders.
process.exit();
