import type { EngineName } from '../../server/test/support/engines.ts';
import { readOrEnd } from './arguments.ts';
import { type Asked, readCommandLine, usage } from './command-line.ts';
import { type Counts, countKeys, countNames } from './counts.ts';
import type { Outcome } from './fault.ts';
import { figure, table } from './report.ts';

const engines: Readonly<Record<EngineName, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

/** On a terminal one line that changes; elsewhere nothing. */
const progress = (line: string) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`);
};

const failure = (error: Error): Outcome => ({
  counts: undefined,
  tables: [],
  notes: [],
  broken: [error.stack ?? error.message],
});

const verdictOn = ({ broken }: Outcome) => (broken.length === 0 ? 'everything held' : 'BROKEN');

const countCells = (counts: Counts | undefined) => countKeys.map((key) => (counts ? figure(counts[key]) : '-'));

function describe(title: string, replay: string, outcome: Outcome): string {
  const { counts, tables, notes, broken } = outcome;
  const cells = countCells(counts);
  const common = countKeys.map((key, i) => [countNames[key], cells[i] ?? '-']);
  const again = `The same schedule again, though not the same instant: ${replay}`;
  const lines = [...notes, again, ...broken.map((line) => `BROKEN: ${line}`)];
  const body = [...tables, common].map(table);
  return `${[`${title}: ${verdictOn(outcome)}`, ...body, lines.join('\n')].join('\n\n')}\n`;
}

async function main({ chosen, engines: asked, seed, seconds }: Asked): Promise<void> {
  const all: string[][] = [['fault', ...countKeys.map((key) => countNames[key]), '']];
  if (chosen.length > 1) console.log(`In turn: ${chosen.map(({ name }) => name).join(', ')}. Seed ${seed}.\n`);
  for (const { name, inapplicable, run, options } of chosen) {
    for (const engine of asked) {
      const title = `${name}, ${engines[engine]}, seed ${seed}`;
      const why = inapplicable(engine);
      if (why !== undefined) {
        console.log(`${title}: skipped. ${why}\n`);
        continue;
      }
      const replay = `npm run chaos -- ${name} --database ${engine} --seed ${seed}${options}`;
      const outOfTime = AbortSignal.timeout(seconds * 1_000);
      const outcome = await run({ engine, seed, outOfTime, progress }).catch(failure);
      progress('');
      console.log(describe(title, replay, outcome));
      all.push([`${name}, ${engines[engine]}`, ...countCells(outcome.counts), verdictOn(outcome)]);
      if (outcome.broken.length > 0) process.exitCode = 1;
    }
  }
  if (all.length > 2) console.log(table(all));
}

// Whatever ends the process, its exit handlers end what it started and remove its folders.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
try {
  await main(readOrEnd(usage, () => readCommandLine(process.argv.slice(2))));
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
process.exit();
