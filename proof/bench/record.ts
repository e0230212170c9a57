import { existsSync } from 'node:fs';
import { type Outcome, passed, type Verdict, verdictOn } from './outcome.ts';

/** The figures for machines: what came of each measurement, and how and when it was taken. */
export interface Record {
  readonly measurements: Readonly<{ [name: string]: Measured }>;
}

export interface Measured {
  readonly at: string;
  readonly machine: string;
  readonly seconds: number;
  readonly rounds: number;
  /** How long all of it took. */
  readonly tookSeconds: number;
  /** The share of all cores that others took meanwhile, where somebody tells. */
  readonly others?: number | undefined;
  readonly outcomes: readonly (Outcome & Judgement)[];
}

/** For those who read the file; it follows from the outcome. */
interface Judgement {
  readonly verdict?: Verdict | undefined;
  /** Neither where it is doubtful, or nothing is asked for. */
  readonly passed?: boolean | undefined;
}

export const readRecord = async (file: string): Promise<Record> =>
  existsSync(file) ? ((await Bun.file(file).json()) as Record) : { measurements: {} };

/** Writes figures in place of earlier ones of the same measurements, which else stay as they are. */
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
