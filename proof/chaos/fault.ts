import type { EngineName } from '../../server/test/support/engines.ts';
import { postgresMissing } from '../../server/test/support/postgres.ts';
import { readCount } from './arguments.ts';
import type { Counts } from './counts.ts';

/** A number that a fault can be given on the command line. */
export interface Setting {
  readonly summary: string;
  readonly fallback: number;
}

/** What a fault runs under. */
export interface Conditions {
  readonly engine: EngineName;
  readonly seed: number;
  /** Fires when the time is over: whatever is still going on has to come to its end. */
  readonly outOfTime: AbortSignal;
  /** Shows how far it has come. */
  readonly progress: (line: string) => void;
}

/** What came of it: figures for people, and every invariant that does not hold. */
export interface Outcome {
  /** The same of every fault; undefined where it did not come to its end. */
  readonly counts: Counts | undefined;
  readonly tables: readonly (readonly (readonly string[])[])[];
  /** What one has to know to believe them. */
  readonly notes: readonly string[];
  readonly broken: readonly string[];
}

/** Something that goes wrong on purpose, and what must hold nevertheless. */
export interface Fault {
  readonly summary: string;
  readonly settings: Readonly<Record<string, Setting>>;
  /** Why it cannot be run on this engine, if it cannot: nothing is wrong then. */
  readonly inapplicable: (engine: EngineName) => string | undefined;
  /** Reads what was given on the command line; throws a few words on what is wrong with it. */
  readonly prepare: (given: Readonly<Record<string, string | undefined>>) => Prepared;
}

export type Prepared = (conditions: Conditions) => Promise<Outcome>;

const bounds = { least: 0, most: 999_999_999 };

/** A row of the table of faults, whose settings arrive as numbers. */
export function fault<S extends string>(row: {
  readonly summary: string;
  readonly settings: Readonly<Record<S, Setting>>;
  readonly inapplicable?: (engine: EngineName) => string | undefined;
  readonly run: (conditions: Conditions, settings: Readonly<Record<S, number>>) => Promise<Outcome>;
}): Fault {
  const names = Object.keys(row.settings) as S[];
  return {
    summary: row.summary,
    settings: row.settings,
    inapplicable: (engine) => (engine === 'postgres' && postgresMissing) || row.inapplicable?.(engine),
    prepare: (given) => {
      const values = names.map((name) => {
        const { fallback } = row.settings[name];
        return [name, readCount(name, given[name], bounds) ?? fallback] as const;
      });
      return (conditions) => row.run(conditions, Object.fromEntries(values) as Record<S, number>);
    },
  };
}
