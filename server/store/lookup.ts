import { Batcher } from '../lib/batcher.ts';
import type { By, ColumnType, Db, Dialect, Lookup, RowWork } from './engine.ts';

type AnyLookup = Lookup<string>;

/** The text of a lookup that is made by itself: its numbers are parameters. */
export function lookupTexts(dialect: Dialect): <N extends string>(lookup: Lookup<N>) => string {
  const texts = new Map<AnyLookup, string>();
  return (lookup) => {
    let text = texts.get(lookup);
    if (text === undefined) {
      text = lookup.text(
        dialect,
        places(lookup, (_, i) => `$${i + 1}`),
      );
      texts.set(lookup, text);
    }
    return text;
  };
}

/** The numbers in the order of a lookup's names. */
export const numbersOf = <N extends string>({ numbers }: Lookup<N>, by: By<N>): number[] =>
  numbers.map((name) => by[name]);

const places = <N extends string>({ numbers }: Lookup<N>, place: (name: N, i: number) => string) =>
  Object.fromEntries(numbers.map((name, i) => [name, place(name, i)])) as Record<N, string>;

/** How lookups are put together. A statement that does not come back holds up others for a moment, and not until it is given up. */
const options = { maxItems: 256, concurrentBatches: 2, slowMs: 100 } as const;

type Gathering = Batcher<readonly number[], object | null>;

/**
 * Lookups made together on a server whose every statement costs more than what it finds: those that come while others are
 * under way make up the next statement. None is answered by a statement that was sent before it was asked for.
 */
export class GatheredLookups {
  readonly #db: Pick<Db, 'dialect' | 'each'>;
  readonly #gatherings = new Map<AnyLookup, Gathering>();

  constructor(db: Pick<Db, 'dialect' | 'each'>) {
    this.#db = db;
  }

  async look<R extends object, N extends string>(lookup: Lookup<N>, by: By<N>): Promise<R | undefined> {
    let gathering = this.#gatherings.get(lookup);
    if (!gathering) {
      gathering = this.#gather(lookup);
      this.#gatherings.set(lookup, gathering);
    }
    return ((await gathering.submit(numbersOf(lookup, by))) ?? undefined) as R | undefined;
  }

  #gather<N extends string>(lookup: Lookup<N>): Gathering {
    const work = allAtOnce(lookup, this.#db.dialect);
    return new Batcher(async (asked) => {
      const found = new Array<object | null>(asked.length).fill(null);
      const rows = asked.map((numbers, nth) => [nth, ...numbers]);
      for (const row of await this.#db.each<{ nth: number }>(work, rows)) found[row.nth] = row;
      return found;
    }, options);
  }
}

/** OFFSET keeps PostgreSQL from making a join of it, which it would plan for tables of another size. */
function allAtOnce<N extends string>(lookup: Lookup<N>, dialect: Dialect): RowWork {
  const columns: Record<string, ColumnType> = { nth: 'int' };
  for (const name of lookup.numbers) columns[name] = 'int';
  const one = lookup.text(
    dialect,
    places(lookup, (name) => `asked.${name}`),
  );
  return {
    columns,
    statements: [
      (source) => `SELECT asked.nth, found.* FROM ${source} AS asked CROSS JOIN LATERAL (${one} OFFSET 0) AS found`,
    ],
  };
}
