import type { Db, Tx, Value } from '../../store/engine/engine.ts';

/**
 * A database that notes how it would carry out statements in place of doing so: on PostgreSQL after they have been asked for so
 * often that it plans for any values, without a look at those that are given. It is to be one with a connection of its own: Bun
 * leaves an EXPLAIN open, and what is read beside it would stay as it was. There they may be carried out as well, to tell how
 * much they read.
 */
export function planning(guest: Db, carriedOut = false): { tx: Tx; plans: string[] } {
  const plans: string[] = [];
  const explain = guest.dialect.name === 'sqlite' ? explainSqlite : explainPostgres;
  const all = async (sql: string, ...params: Value[]): Promise<never[]> => {
    plans.push((await explain(guest, sql, params, carriedOut)).join('\n'));
    return [];
  };
  const get = async (sql: string, ...params: Value[]) => void (await all(sql, ...params));
  const run = async (sql: string, ...params: Value[]) => (await all(sql, ...params)).length;
  // What the engine makes of rows stays its own.
  const tx: Tx = Object.assign(Object.create(guest) as Tx, { all, get, run });
  return { tx, plans };
}

async function explainSqlite(db: Db, sql: string, params: readonly Value[]): Promise<string[]> {
  const steps = await db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...params);
  return steps.map(({ detail }) => detail);
}

const literal = (value: Value) =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value ?? 'NULL');

/** What is asked for again is carried out as it was planned the first time. */
async function explainPostgres(db: Db, sql: string, params: readonly Value[], carriedOut: boolean): Promise<string[]> {
  const name = `planned_${Bun.hash(sql)}`;
  const known = await db.get('SELECT 1 AS known FROM pg_prepared_statements WHERE name = $1', name);
  if (!known) {
    await db.run('SET plan_cache_mode = force_generic_plan');
    await db.run(`PREPARE ${name} AS ${sql}`);
  }
  const how = carriedOut ? '(ANALYZE, BUFFERS)' : '';
  const given = params.length > 0 ? `(${params.map(literal).join(', ')})` : '';
  const steps = await db.all<{ 'QUERY PLAN': string }>(`EXPLAIN ${how} EXECUTE ${name} ${given}`);
  return steps.map((step) => step['QUERY PLAN']);
}

/** How many blocks each of these steps of a plan has read that was carried out, with all that is below it. */
export function blocksRead(plan: string, which: RegExp): number[] {
  const steps = plan.split('\n');
  return steps.flatMap((step, i) => {
    if (!which.test(step) || step.includes('never executed')) return [];
    const rest = steps.slice(i + 1);
    const end = rest.findIndex((line) => /^\S|->|SubPlan|InitPlan|CTE/.test(line));
    const told = rest.slice(0, end < 0 ? undefined : end).find((line) => line.includes('Buffers:'));
    return [...(told ?? '').matchAll(/(?:hit|read)=(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  });
}
