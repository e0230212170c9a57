import { existsSync } from 'node:fs';
import { type Outcome, passed, type Verdict, verdictOn } from './outcome.ts';

/** All figures, and how and when each was taken. */
export interface Record {
  readonly measurements: Readonly<{ [name: string]: Measured }>;
}

export interface Measured {
  readonly at: string;
  readonly machine: string;
  readonly seconds: number;
  readonly rounds: number;
  readonly tookSeconds: number;
  /** The share of all cores that others took meanwhile, if it is known. */
  readonly others?: number | undefined;
  readonly outcomes: readonly (Outcome & Judgement)[];
}

/** Follows from the outcome, for readers of the file. */
interface Judgement {
  readonly verdict?: Verdict | undefined;
  /** Undefined if it is doubtful, or there is no bar. */
  readonly passed?: boolean | undefined;
}

export const readRecord = async (file: string): Promise<Record> =>
  existsSync(file) ? ((await Bun.file(file).json()) as Record) : { measurements: {} };

/** Replaces the figures of these measurements, and keeps the others. */
export async function updateRecord(file: string, fresh: Record['measurements']): Promise<void> {
  const { measurements } = await readRecord(file);
  await writeRecord(file, { ...measurements, ...fresh });
}

export async function writeRecord(file: string, measurements: Record['measurements']): Promise<void> {
  const judged = Object.entries(measurements).map(([name, measured]) => {
    const outcomes = measured.outcomes.map((outcome) => {
      return { ...outcome, verdict: verdictOn(outcome), passed: passed(outcome) };
    });
    return [name, { ...measured, outcomes }] as const;
  });
  await Bun.write(file, `${JSON.stringify({ measurements: Object.fromEntries(judged) }, null, 2)}\n`);
}
