import { countsOf } from '../counts.ts';
import { type Fault, fault, type Outcome, type Setting } from '../fault.ts';
import { perWebhook } from '../told-table.ts';
import { type RunResult, runTrial } from './run.ts';
import { answersTable, overview, perStream } from './tables.ts';
import type { Trial } from './trial.ts';

/** A row of the table of faults for one that happens in the frame. */
export function framed<S extends string>(trial: Trial<S>): Fault {
  const traffic: Setting = { summary: 'seconds that people write, at the least', fallback: trial.seconds };
  const settings = { ...trial.settings, traffic } as Readonly<Record<S | 'traffic', Setting>>;
  return fault({
    summary: trial.summary,
    settings,
    ...(trial.inapplicable && { inapplicable: trial.inapplicable }),
    run: async (conditions, given) => {
      const ms = given.traffic * 1_000;
      return outcomeOf(await runTrial(trial, { ...conditions, ms, settings: given, fsync: true }));
    },
  });
}

function outcomeOf(result: RunResult): Outcome {
  const { evidence, verdict, faults, broken } = result;
  return {
    counts: countsOf(evidence, verdict, Object.values(verdict.streams)),
    tables: [overview(result), answersTable(evidence.answers), perStream(result), perWebhook(evidence, verdict)],
    notes: faults.slice(0, 5).map((line) => `A server logged: ${line}`),
    broken,
  };
}
