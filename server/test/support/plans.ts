import type { Db, Tx, Value } from '../../store/engine/engine.ts';

/**
 * Returns a database that records the plan of each statement instead of running it. On PostgreSQL this is the generic plan,
 * which ignores the values. With `isExecuted` the statements run too, and the plan says how much they read. `guest` needs a
 * connection of its own: Bun leaves an EXPLAIN open, and reads beside it would keep their snapshot.
 */
export function planning(guest: Db, isExecuted = false): { tx: Tx; plans: string[] } {
  const plans: string[] = [];
  const explain = guest.dialect.name === 'sqlite' ? explainSqlite : explainPostgres;
  const all = async (sql: string, params: readonly Value[] = []): Promise<never[]> => {
    plans.push((await explain(guest, sql, params, isExecuted)).join('\n'));
    return [];
  };
  const get = async (sql: string, params?: readonly Value[]) => void (await all(sql, params));
  const run = async (sql: string, params?: readonly Value[]) => (await all(sql, params)).length;
  // `bulk` stays the engine's own and calls `all`.
  const tx: Tx = Object.assign(Object.create(guest) as Tx, { all, get, run });
  return { tx, plans };
}

async function explainSqlite(db: Db, sql: string, params: readonly Value[]): Promise<string[]> {
  const steps = await db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, params);
  return steps.map(({ detail }) => detail);
}

const literal = (value: Value) =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value ?? 'NULL');

/** Prepares each statement once, so that its plan is the one that the server keeps. */
async function explainPostgres(db: Db, sql: string, params: readonly Value[], isExecuted: boolean): Promise<string[]> {
  const name = `planned_${Bun.hash(sql)}`;
  const known = await db.get('SELECT 1 AS known FROM pg_prepared_statements WHERE name = $1', [name]);
  if (!known) {
    await db.run('SET plan_cache_mode = force_generic_plan');
    await db.run(`PREPARE ${name} AS ${sql}`);
  }
  const how = isExecuted ? '(ANALYZE, BUFFERS)' : '';
  const given = params.length > 0 ? `(${params.map(literal).join(', ')})` : '';
  const steps = await db.all<{ 'QUERY PLAN': string }>(`EXPLAIN ${how} EXECUTE ${name} ${given}`);
  return steps.map((step) => step['QUERY PLAN']);
}

/** Returns the blocks that each matching step of an executed plan has read, with all steps below it. */
export function blocksRead(plan: string, which: RegExp): number[] {
  const steps = plan.split('\n');
  return steps.flatMap((step, i) => {
    if (!which.test(step) || step.includes('never executed')) return [];
    const rest = steps.slice(i + 1);
    const end = rest.findIndex((line) => /^\S|->|SubPlan|InitPlan|CTE/.test(line));
    const buffers = rest.slice(0, end < 0 ? undefined : end).find((line) => line.includes('Buffers:'));
    return [...(buffers ?? '').matchAll(/(?:hit|read)=(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  });
}
