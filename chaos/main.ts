import { parseArgs } from 'node:util';
import type { EngineName } from '../server/test/support/engines.ts';
import { cluster } from './cluster.ts';
import { type Fault, type Outcome, readCount } from './fault.ts';
import { table } from './report.ts';
import { webhooks } from './webhooks.ts';

/** Everything that can be made to go wrong, by the name that it is asked for. */
const faults: Readonly<Record<string, Fault>> = { webhooks, cluster };

const engines: Readonly<Record<EngineName, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

const usage = `npm run chaos -- [fault …] [--engine sqlite|postgres|both] [--seed N] [--seconds N]
--engine   the database (both)
--seed     draws the same schedule again; by chance without it
--seconds  ends each run after this time at the latest (900)
${Object.entries(faults).map(describeFault).join('\n')}`;

function describeFault([name, { summary, settings }]: [string, Fault]): string {
  const rows = Object.entries(settings).map(([option, s]) => [`  --${option}`, `${s.summary} (${s.fallback})`]);
  return `\n${name}: ${summary}\n${rows.map(([option = '', text]) => `${option.padEnd(12)} ${text}`).join('\n')}`;
}

function readArguments() {
  const text = { type: 'string' } as const;
  const settings = Object.values(faults).flatMap((fault) => Object.keys(fault.settings));
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2),
    allowPositionals: true,
    options: {
      engine: { ...text, default: 'both' },
      seed: text,
      seconds: text,
      help: { type: 'boolean', default: false },
      ...Object.fromEntries(settings.map((name) => [name, text])),
    },
  });
  const given = values as Readonly<Record<string, string | undefined>> & typeof values;
  const asked = positionals.length > 0 ? positionals : Object.keys(faults);
  const chosen = asked.map((name) => {
    const fault = faults[name];
    if (!fault) throw new Error(`there is no fault ${name}`);
    return { name, inapplicable: fault.inapplicable, run: fault.prepare(given) };
  });
  return {
    help: values.help,
    chosen,
    engines: readEngines(values.engine),
    seed: readCount('seed', given.seed, Math.floor(Math.random() * 1e9)),
    seconds: readCount('seconds', given.seconds, 900),
  };
}

function readEngines(asked: string): EngineName[] {
  if (asked === 'sqlite' || asked === 'postgres') return [asked];
  if (asked !== 'both') throw new Error(`--engine is sqlite, postgres or both, not ${asked}`);
  return ['sqlite', 'postgres'];
}

/** On a terminal one line that changes; elsewhere nothing. */
const progress = (line: string) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`);
};

const failure = (error: Error): Outcome => ({ tables: [], notes: [], broken: [error.stack ?? error.message] });

const seedNote =
  'The seed draws the same schedule again; what the server was doing at that instant is up to the machine.';

function describe(title: string, { tables, notes, broken }: Outcome): string {
  const verdict = broken.length === 0 ? 'everything held' : 'BROKEN';
  const lines = [...notes, seedNote, ...broken.map((line) => `BROKEN: ${line}`)];
  return `${[`${title}: ${verdict}`, ...tables.map(table), lines.join('\n')].join('\n\n')}\n`;
}

async function main({ help, chosen, engines: asked, seed, seconds }: ReturnType<typeof readArguments>) {
  if (help) return console.log(usage);
  for (const { name, inapplicable, run } of chosen) {
    for (const engine of asked) {
      const title = `${name}, ${engines[engine]}, seed ${seed}`;
      const why = inapplicable(engine);
      if (why !== undefined) {
        console.log(`${title}: skipped. ${why}`);
        continue;
      }
      const outOfTime = AbortSignal.timeout(seconds * 1_000);
      const outcome = await run({ engine, seed, outOfTime, progress }).catch(failure);
      progress('');
      console.log(describe(title, outcome));
      if (outcome.broken.length > 0) process.exitCode = 1;
    }
  }
}

function argumentsOrUsage() {
  try {
    return readArguments();
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    process.exit(1);
  }
}

// Whatever ends the process, its exit handlers end what it started and remove its folders.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
try {
  await main(argumentsOrUsage());
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
process.exit();
