import type { EngineName } from '../../server/test/support/engines.ts';
import { readOrExit, runTool } from '../harness/arguments.ts';
import { figure, table } from '../harness/report.ts';
import { type Chosen, readCommandLine, usage } from './command-line.ts';
import { type Counts, countKeys, countNames, countsOf } from './counts.ts';
import { type RunResult, runScenario } from './run.ts';
import { whyInapplicable } from './scenario.ts';
import { tablesOf } from './tables.ts';
import { tenants } from './tenants/main.ts';

const engineTitles: Readonly<Record<EngineName, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

/** Updates one line on a terminal. Prints nothing elsewhere. */
const progress = (line: string) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`);
};

function outcomeOf(result: RunResult) {
  const { evidence, verdict, faults, broken } = result;
  const counts = countsOf(evidence, verdict, Object.values(verdict.streams));
  const notes = faults.slice(0, 5).map((line) => `A server logged: ${line}`);
  return { counts, tables: tablesOf(result), notes, broken };
}

/** `counts` is undefined if the run failed. */
type Outcome = Omit<ReturnType<typeof outcomeOf>, 'counts'> & { readonly counts?: Counts };

const failure = (error: Error): Outcome => ({ tables: [], notes: [], broken: [error.stack ?? error.message] });

const verdictOn = ({ broken }: Outcome) => (broken.length === 0 ? 'everything held' : 'BROKEN');

const countCells = ({ counts }: Outcome) => countKeys.map((key) => (counts ? figure(counts[key]) : '-'));

function describe(title: string, replay: string, outcome: Outcome): string {
  const cells = countCells(outcome);
  const common = countKeys.map((key, i) => [countNames[key], cells[i] ?? '-']);
  const again = `The same schedule again, though not the same instant: ${replay}`;
  const lines = [...outcome.notes, again, ...outcome.broken.map((line) => `BROKEN: ${line}`)];
  const tables = [...outcome.tables, common].map((rows) => table(rows));
  return `${[`${title}: ${verdictOn(outcome)}`, ...tables, lines.join('\n')].join('\n\n')}\n`;
}

// It has no schedule and no evidence as the faults do, so it has a command line and a report of its own.
if (process.argv[2] === 'tenants') await tenants();

const { chosen, engines, seed, seconds } = readOrExit(usage, readCommandLine);

function run({ scenario, settings }: Chosen, engine: EngineName): Promise<Outcome> {
  const ms = (settings.traffic ?? scenario.seconds) * 1_000;
  const outOfTime = AbortSignal.timeout(seconds * 1_000);
  const options = { engine, seed, ms, settings, fsync: true, outOfTime, progress };
  return runScenario(scenario, options).then(outcomeOf, failure);
}

await runTool(async () => {
  const rows: string[][] = [['fault', ...countKeys.map((key) => countNames[key]), '']];
  if (chosen.length > 1) console.log(`In turn: ${chosen.map(({ name }) => name).join(', ')}. Seed ${seed}.\n`);
  for (const one of chosen) {
    for (const engine of engines) {
      const what = `${one.name}, ${engineTitles[engine]}`;
      const why = whyInapplicable(one.scenario, engine);
      if (why !== undefined) {
        console.log(`${what}, seed ${seed}: skipped. ${why}\n`);
        continue;
      }
      const outcome = await run(one, engine);
      progress('');
      const replay = `npm run chaos -- ${one.name} --database ${engine} --seed ${seed}${one.options}`;
      console.log(describe(`${what}, seed ${seed}`, replay, outcome));
      rows.push([what, ...countCells(outcome), verdictOn(outcome)]);
      if (outcome.broken.length > 0) process.exitCode = 1;
    }
  }
  if (rows.length > 2) console.log(table(rows));
});
