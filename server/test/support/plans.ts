import type { Db, Value } from '../../store/engine.ts';

/**
 * A database that answers how it would carry out a query in place of carrying it out. It is to have a connection of its own:
 * Bun leaves an EXPLAIN open, and what is read beside it would stay as it was.
 */
export function explaining(db: Db): { db: Db; plans: string[] } {
  const plans: string[] = [];
  const explain = db.dialect.name === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
  const all = async <R extends object>(sql: string, ...params: Value[]): Promise<R[]> => {
    const steps = await db.all<Record<string, unknown>>(`${explain} ${sql}`, ...params);
    plans.push(steps.map((step) => step.detail ?? step['QUERY PLAN']).join('\n'));
    return [];
  };
  return { db: { dialect: db.dialect, all, get: db.get, run: db.run, each: db.each }, plans };
}
