import type { Engine, Queryable, Tx } from '../store/engine/engine.ts';
import { changes, number } from '../store/engine/query.ts';
import { logTip } from '../store/log/events.ts';

/** The last id given out for messages, events, or the rows of a table. 0 if none was. */
export interface Counter {
  readonly name: string;
  readonly last: number;
  /** PostgreSQL's sequence. */
  readonly sequence?: string;
}

const lastIds = {
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

/** PostgreSQL's sequences are not transactional: even in a snapshot these are the current values. */
export const readCounters = (db: Queryable): Promise<Counter[]> => db.all(lastIds[db.dialect.name]);

/**
 * Returns the id up to which the log of a snapshot is complete. This may be above its last event, because rolled back
 * transactions take ids too. PostgreSQL's counter has moved on since the snapshot, so the first later event bounds it. That
 * one is read under the event lock, when no transaction holds uncommitted ids.
 */
export async function completeUpTo(snapshot: Queryable, engine: Engine): Promise<number> {
  const lastEventId = async (db: Queryable) =>
    (await readCounters(db)).find(({ name }) => name === 'events')?.last ?? 0;
  if (snapshot.dialect.name === 'sqlite') return lastEventId(snapshot);
  const tip = await logTip(snapshot);
  return engine.write(async (tx) => {
    await tx.takeIds({ messages: 0, events: 0 });
    const next = await number(tx, 'SELECT min(event_id) AS first FROM events WHERE event_id > $1', [tip]);
    return next > 0 ? next - 1 : lastEventId(tx);
  });
}

/** Makes `last + 1` the next id. */
export async function setCounter(tx: Tx, { name, sequence }: Counter, last: number): Promise<void> {
  if (sequence !== undefined) {
    await tx.run('SELECT setval(CAST(quote_ident($1) AS regclass), $2)', [sequence, last]);
    return;
  }
  if (await changes(tx, 'UPDATE id_counters SET last_id = $2 WHERE name = $1', [name, last])) return;
  await tx.run('DELETE FROM sqlite_sequence WHERE name = $1', [name]);
  await tx.run('INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)', [name, last]);
}
