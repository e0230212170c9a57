import { join } from 'node:path';
import type { Curve, Figure, Missing, Rates } from '../../../bench/outcome.ts';
import { readRecord } from '../../../bench/record.ts';

export const figuresFile = join(import.meta.dir, '../../performance/figures.json');

/** What the page and its plots are made of. */
export interface Figures {
  readonly machines: readonly string[];
  /** Days on which they were taken. */
  readonly days: readonly string[];
  readonly rates: readonly Rates[];
  readonly figures: readonly Figure[];
  /** By what grows. */
  readonly curves: ReadonlyMap<string, readonly Curve[]>;
  /** What was not measured, or went wrong. */
  readonly missing: readonly Missing[];
  readonly took: readonly { readonly name: string; readonly seconds: number }[];
}

export async function readFigures(file = figuresFile): Promise<Figures> {
  const { measurements } = await readRecord(file);
  const all = Object.entries(measurements);
  const outcomes = all.flatMap(([, { outcomes }]) => outcomes);
  const curves = outcomes.filter((outcome) => outcome.kind === 'curve');
  return {
    machines: [...new Set(all.map(([, { machine }]) => machine))],
    days: [...new Set(all.map(([, { at }]) => at.slice(0, 10)))].sort(),
    rates: outcomes.filter((outcome) => outcome.kind === 'rates'),
    figures: outcomes.filter((outcome) => outcome.kind === 'figure'),
    curves: Map.groupBy(curves, ({ along }) => along),
    missing: outcomes.filter((outcome): outcome is Missing => outcome.kind === 'skipped' || outcome.kind === 'failed'),
    took: all.map(([name, { tookSeconds }]) => ({ name, seconds: tookSeconds })),
  };
}
