import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine, folderIsInMemory, leaveServerCore } from './machine.ts';
import { measurements, type Outcome } from './measurements.ts';
import { profileInto } from './parley.ts';
import { notes, passed, table } from './report.ts';

const usage = `npm run bench -- [measurement …] [--seconds N] [--rounds N] [--json file] [--check]
measurements: ${Object.keys(measurements).join(', ')}; the start of a name will do
--seconds  how long a round lasts (0.8)    --rounds  how many rounds each side runs (5)
--json     where the figures go (bench/results/latest.json)
--profile  also write where the server's time went into bench/results (its figures are then lower)
--check    end with an error where a bar is missed`;

function readArguments() {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2),
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '0.8' },
      rounds: { type: 'string', default: '5' },
      json: { type: 'string', default: join(import.meta.dir, 'results/latest.json') },
      profile: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const pace = { seconds: Number(values.seconds), rounds: Math.trunc(Number(values.rounds)) };
  if (!(pace.seconds > 0) || !(pace.rounds > 0)) throw new Error('--seconds and --rounds take numbers above 0');
  for (const asked of positionals) {
    if (!Object.keys(measurements).some((name) => name.startsWith(asked))) throw new Error(`there is no ${asked}`);
  }
  const chosen = Object.entries(measurements).filter(
    ([name]) => positionals.length === 0 || positionals.some((asked) => name.startsWith(asked)),
  );
  return { ...values, pace, chosen };
}

async function main({ pace, chosen, json, check, profile, help }: ReturnType<typeof readArguments>): Promise<void> {
  if (help) return console.log(usage);
  leaveServerCore();
  if (profile) profileInto(join(import.meta.dir, 'results'));
  console.log(`${describeMachine()}; ${pace.rounds} rounds of ${pace.seconds} s`);
  if (folderIsInMemory()) console.log('The temporary folder is in memory: set TMPDIR to a folder on a disk.');
  const outcomes: (Outcome & { readonly measurement: string })[] = [];
  for (const [measurement, measure] of chosen) {
    console.error(`… ${measurement}`);
    const measured = await measure(pace).catch((error: Error): Outcome[] => [
      { kind: 'failed', what: measurement, why: error.stack ?? error.message },
    ]);
    outcomes.push(...measured.map((outcome) => ({ measurement, ...outcome })));
  }
  console.log(`\n${table(outcomes)}\n\n${notes(outcomes)}`);
  const figures = outcomes.map((outcome) => ({ ...outcome, passed: passed(outcome) }));
  const record = { at: new Date().toISOString(), machine: describeMachine(), pace, figures };
  await Bun.write(json, `${JSON.stringify(record, null, 2)}\n`);
  const bad = figures.some((f) => f.kind === 'failed' || (check && f.passed === false));
  process.exitCode = bad ? 1 : 0;
}

// Whatever ends the process, its exit handlers end what it started and remove its folders.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
try {
  await main(readArguments());
} catch (error) {
  console.error(`${(error as Error).message}\n\n${usage}`);
  process.exitCode = 1;
}
process.exit();
