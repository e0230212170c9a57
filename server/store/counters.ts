import type { Engine, Tx } from './engine.ts';
import { logTip } from './events.ts';
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

/**
 * Up to which id the log of a snapshot tells everything. Behind its last event ids may have been taken for what was then refused. In
 * PostgreSQL the counter has gone on since, so it is asked, while nobody has ids that are not committed, what has come instead.
 */
export async function reachOf(snapshot: Reading, engine: Engine): Promise<number> {
  const counted = async (db: Reading) => (await readCounters(db)).find(({ name }) => name === 'events')?.last ?? 0;
  if (snapshot.dialect.name === 'sqlite') return counted(snapshot);
  const tip = await logTip(snapshot);
  return engine.write(async (tx) => {
    await tx.takeIds({ messages: 0, events: 0 });
    const [next] = await tx.all<{ first: number | null }>(
      'SELECT min(event_id) AS first FROM events WHERE event_id > $1',
      tip,
    );
    return next?.first ? next.first - 1 : counted(tx);
  });
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
