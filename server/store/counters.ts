import type { Tx } from './engine.ts';
import type { Reading } from './snapshot.ts';

/** The last id that was given out, of messages, of events, and of every table whose rows the database numbers; 0: none was. */
export interface Counter {
  readonly name: string;
  readonly last: number;
}

const counted = {
  sqlite: `
    SELECT t.name, COALESCE(s.seq, 0) AS last FROM sqlite_schema t LEFT JOIN sqlite_sequence s ON s.name = t.name
    WHERE t.type = 'table' AND t.sql LIKE '%AUTOINCREMENT%'
    UNION ALL SELECT name, last_id FROM id_counters ORDER BY 1`,
  postgres: `
    SELECT CAST(CASE s.relname WHEN 'message_ids' THEN 'messages' WHEN 'event_ids' THEN 'events' ELSE t.relname END AS text) AS name,
           COALESCE(pg_sequence_last_value(s.oid), 0) AS last, CAST(s.relname AS text) AS sequence
    FROM pg_class s
    LEFT JOIN pg_depend d ON d.objid = s.oid AND d.classid = CAST('pg_class' AS regclass) AND d.deptype = 'i'
    LEFT JOIN pg_class t ON t.oid = d.refobjid
    WHERE s.relkind = 'S' AND s.relnamespace = CAST(current_schema() AS regnamespace) ORDER BY 1`,
} as const;

/** In PostgreSQL they are beyond all transactions: they are those of now, also in a look at a moment that has passed. */
export async function readCounters(db: Reading): Promise<Counter[]> {
  const rows = await db.all<Counter>(counted[db.dialect.name]);
  return rows.map(({ name, last }) => ({ name, last }));
}

/** The next id is behind this one. */
export async function setCounter(tx: Tx, { name, last }: Counter): Promise<void> {
  if (tx.dialect.name === 'postgres') {
    const rows = await tx.all<Counter & { sequence: string }>(counted.postgres);
    const { sequence } = rows.find((row) => row.name === name) ?? {};
    if (sequence === undefined) throw new Error(`nothing counts ${name}`);
    await tx.run('SELECT setval(CAST(quote_ident($1) AS regclass), $2)', sequence, last);
    return;
  }
  if ((await tx.run('UPDATE id_counters SET last_id = $2 WHERE name = $1', name, last)) > 0) return;
  await tx.run('DELETE FROM sqlite_sequence WHERE name = $1', name);
  await tx.run('INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)', name, last);
}
