import { join } from 'node:path';
import { measurementNames, usualNames } from '../../../proof/bench/names.ts';
import {
  type Curve,
  type Figure,
  isMissing,
  type Missing,
  type Outcome,
  type Rates,
} from '../../../proof/bench/outcome.ts';
import { readRecord } from '../../../proof/bench/record.ts';

export const figuresFile = join(import.meta.dir, '../../performance/figures.json');

/** The recorded results, grouped for the page and its plots. */
export interface Figures {
  readonly machines: readonly string[];
  /** Dates of the measurements. */
  readonly days: readonly string[];
  readonly rates: readonly Rates[];
  readonly figures: readonly Figure[];
  /** By the quantity that grows. */
  readonly curves: ReadonlyMap<string, readonly Curve[]>;
  /** Measurements that were skipped or failed. */
  readonly missing: readonly Missing[];
  /** Names of measurements without any result. */
  readonly unmeasured: readonly string[];
  readonly all: readonly Outcome[];
  readonly took: readonly Took[];
}

export interface Took {
  readonly name: string;
  readonly seconds: number;
  /** True if `npm run bench` runs it by default. */
  readonly isUsual: boolean;
}

/** Returns the results in the order of the measurement names. Results of removed measurements are left out. */
export async function readFigures(file = figuresFile): Promise<Figures> {
  const { measurements } = await readRecord(file);
  const taken = measurementNames.flatMap((name) => {
    const measured = measurements[name];
    return measured ? [{ name, measured }] : [];
  });
  const outcomes: readonly Outcome[] = taken.flatMap(({ measured }) => measured.outcomes);
  const curves = outcomes.filter((outcome) => outcome.kind === 'curve');
  return {
    machines: [...new Set(taken.map(({ measured }) => measured.machine))],
    days: [...new Set(taken.map(({ measured }) => measured.at.slice(0, 10)))].sort(),
    rates: outcomes.filter((outcome) => outcome.kind === 'rates'),
    figures: outcomes.filter((outcome) => outcome.kind === 'figure'),
    curves: Map.groupBy(curves, ({ along }) => along),
    missing: outcomes.filter(isMissing),
    unmeasured: measurementNames.filter((name) => !measurements[name]?.outcomes.length),
    all: outcomes,
    took: taken.map(({ name, measured }) => {
      return { name, seconds: measured.tookSeconds, isUsual: usualNames.some((usual) => usual === name) };
    }),
  };
}
