import { Coalescer } from './coalesce.ts';
import type { ColumnType, Db, Dialect, Lookup, RowWork } from './engine.ts';

/** The text of a lookup that is made by itself: its numbers are parameters. */
export function lookupTexts(dialect: Dialect): (lookup: Lookup) => string {
  const texts = new Map<Lookup, string>();
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

const places = ({ numbers }: Lookup, place: (name: string, i: number) => string): Record<string, string> =>
  Object.fromEntries(numbers.map((name, i) => [name, place(name, i)]));

/** Lookups that are made in one statement at most. */
const largest = 256;

type Gathering = Coalescer<readonly number[], object | null>;

/**
 * Lookups made together on a server whose every statement costs more than what it finds: those that come while others are
 * under way make up the next statement. None is answered by a statement that was sent before it was asked for.
 */
export class GatheredLookups {
  readonly #db: Pick<Db, 'dialect' | 'each'>;
  readonly #gatherings = new Map<Lookup, Gathering>();

  constructor(db: Pick<Db, 'dialect' | 'each'>) {
    this.#db = db;
  }

  async look<R extends object>(lookup: Lookup, numbers: readonly number[]): Promise<R | undefined> {
    let gathering = this.#gatherings.get(lookup);
    if (!gathering) {
      gathering = this.#gather(lookup);
      this.#gatherings.set(lookup, gathering);
    }
    return ((await gathering.submit(numbers)) ?? undefined) as R | undefined;
  }

  #gather(lookup: Lookup): Gathering {
    const work = allAtOnce(lookup, this.#db.dialect);
    return new Coalescer(
      async (asked) => {
        const found = new Array<object | null>(asked.length).fill(null);
        const rows = asked.map((numbers, nth) => [nth, ...numbers]);
        for (const row of await this.#db.each<{ nth: number }>(work, rows)) found[row.nth] = row;
        return found;
      },
      { largest, parallel: 2 },
    );
  }
}

/** OFFSET keeps PostgreSQL from making a join of it, which it would plan for tables of another size. */
function allAtOnce(lookup: Lookup, dialect: Dialect): RowWork {
  const columns: Record<string, ColumnType> = { nth: 'int' };
  for (const name of lookup.numbers) columns[name] = 'int';
  const each = lookup.text(
    dialect,
    places(lookup, (name) => `asked.${name}`),
  );
  return {
    columns,
    statements: [
      (source) => `SELECT asked.nth, found.* FROM ${source} AS asked CROSS JOIN LATERAL (${each} OFFSET 0) AS found`,
    ],
  };
}
