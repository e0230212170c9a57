import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine, folderIsInMemory, leaveServerCore } from './machine.ts';
import { chooseMeasurements, measurementNames } from './measurements.ts';
import { type Outcome, passed } from './outcome.ts';
import { profileInto } from './parley.ts';
import { type Plan, sizesUpTo, tinyPlan } from './plan.ts';
import { type Measured, updateRecord, writeRecord } from './record.ts';
import { notes, table } from './report.ts';

const published = join(import.meta.dir, '../docs/performance/figures.json');

const usage = `npm run bench -- [measurement …] [--seconds N] [--rounds N] [--up-to N] [--json file] [--record] [--check]
measurements: ${measurementNames.join(', ')}
  the start of a name will do; all but those of growth where none is named; \`all\` for all of them
--seconds  how long a round lasts (0.8)    --rounds  how many rounds each side runs (5)
--up-to    the largest size in curves of growth (1000000)
--json     where the figures go (bench/results/latest.json)
--record   also put them into docs/performance/figures.json, in place of earlier ones; then \`npm run docs\`
--profile  also write where the server's time went into bench/results (its figures are then lower)
--check    end with an error where a bar is missed
--tiny     only try whether everything runs, with next to nothing; the figures mean nothing`;

function readArguments() {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2),
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '0.8' },
      rounds: { type: 'string', default: '5' },
      'up-to': { type: 'string', default: '1000000' },
      json: { type: 'string', default: join(import.meta.dir, 'results/latest.json') },
      record: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      tiny: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const pace = { seconds: Number(values.seconds), rounds: Math.trunc(Number(values.rounds)), warmUpSeconds: 1.5 };
  if (!(pace.seconds > 0) || !(pace.rounds > 0)) throw new Error('--seconds and --rounds take numbers above 0');
  if (values.tiny && values.record) throw new Error('figures of --tiny are not worth recording');
  const plan: Plan = values.tiny ? tinyPlan : { ...pace, sizes: sizesUpTo(Number(values['up-to'])) };
  return { ...values, plan, chosen: chooseMeasurements(positionals) };
}

async function main({ plan, chosen, ...options }: ReturnType<typeof readArguments>): Promise<void> {
  if (options.help) return console.log(usage);
  leaveServerCore();
  if (options.profile) profileInto(join(import.meta.dir, 'results'));
  const { seconds, rounds } = plan;
  console.log(`${describeMachine()}; ${rounds} rounds of ${seconds} s`);
  if (folderIsInMemory()) console.log('The temporary folder is in memory: set TMPDIR to a folder on a disk.');
  const measurements: { [name: string]: Measured } = {};
  for (const [name, measure] of chosen) {
    console.error(`… ${name}`);
    const began = performance.now();
    const outcomes = await measure(plan).catch((error: Error): Outcome[] => [
      { kind: 'failed', what: name, why: error.stack ?? error.message },
    ]);
    const tookSeconds = Math.round((performance.now() - began) / 100) / 10;
    const at = new Date().toISOString();
    const measured: Measured = { at, machine: describeMachine(), seconds, rounds, tookSeconds, outcomes };
    measurements[name] = measured;
    if (options.record) await updateRecord(published, { [name]: measured });
  }
  const outcomes = Object.values(measurements).flatMap((measured) => measured.outcomes);
  console.log(`\n${table(outcomes)}\n\n${notes(outcomes)}`);
  await writeRecord(options.json, measurements);
  const isBad = (outcome: Outcome) => outcome.kind === 'failed' || (options.check && passed(outcome) === false);
  process.exitCode = outcomes.some(isBad) ? 1 : 0;
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
