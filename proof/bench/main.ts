import { join } from 'node:path';
import { readOrExit, runTool } from '../harness/arguments.ts';
import { describeMachine, leaveServerCore, warnIfFolderIsInMemory } from '../harness/machine.ts';
import { othersWhile } from '../harness/others.ts';
import { type Options, readCommandLine, usage } from './command-line.ts';
import { doubtsAboutOthers } from './doubt.ts';
import { doubted, isInOrder, type Outcome } from './outcome.ts';
import { profileInto } from './parley.ts';
import { type Measured, updateRecord, writeRecord } from './record.ts';
import { doubtful, notes, table } from './report.ts';

const published = join(import.meta.dir, '../../docs/performance/figures.json');

async function main({ plan, chosen, ...options }: Options): Promise<void> {
  leaveServerCore();
  if (options.profile) profileInto(join(import.meta.dir, 'results'));
  console.log(`${describeMachine()}; ${plan.rounds} rounds of ${plan.seconds} s`);
  warnIfFolderIsInMemory();
  const measurements: { [name: string]: Measured } = {};
  for (const one of chosen) {
    const [name] = one;
    console.error(`… ${name}`);
    const measured = await take(one, plan);
    measurements[name] = measured;
    if (options.record) await updateRecord(published, { [name]: measured });
  }
  const all = Object.values(measurements);
  if (all.some(({ others }) => others === undefined)) {
    console.log('Only Linux tells what others do on the machine: whether it was quiet is unknown.');
  }
  const outcomes = all.flatMap((measured) => measured.outcomes);
  console.log(`\n${table(outcomes)}\n\n${notes(outcomes)}`);
  await writeRecord(options.json, measurements);
  const inDoubt = doubtful(outcomes);
  if (options.record && inDoubt !== '') console.log(`\nRECORDED ALTHOUGH DOUBTFUL, as the page will say:\n${inDoubt}`);
  const isBad = (outcome: Outcome) => outcome.kind === 'failed' || (options.check && !isInOrder(outcome));
  process.exitCode = outcomes.some(isBad) ? 1 : 0;
}

/** Takes one measurement. */
async function take([name, measure]: Options['chosen'][number], plan: Options['plan']): Promise<Measured> {
  const began = performance.now();
  const { result, others } = await othersWhile(() =>
    measure(plan).catch((error: Error): Outcome[] => [
      { kind: 'failed', what: name, why: error.stack ?? error.message },
    ]),
  );
  return {
    at: new Date().toISOString(),
    machine: describeMachine(),
    seconds: plan.seconds,
    rounds: plan.rounds,
    tookSeconds: Math.round((performance.now() - began) / 100) / 10,
    others,
    outcomes: result.map((outcome) => doubted(outcome, doubtsAboutOthers(others))),
  };
}

const options = readOrExit(usage, readCommandLine);
await runTool(() => main(options));
