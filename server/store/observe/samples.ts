import type { Db, Tx } from '../engine/engine.ts';
import { number } from '../engine/query.ts';

/** The metrics of one minute. */
export interface SampleRow {
  /** Minutes since 1970. */
  readonly minute: number;
  readonly messages: number;
  readonly requests: number;
  /** Responses with a status of 500 and above. */
  readonly server_errors: number;
  readonly streams: number;
  readonly people_online: number;
  /** First attempts at webhooks. */
  readonly first_attempts: number;
  /** The sum of the times from the commits of their events. */
  readonly first_attempt_lag_ms: number;
  readonly backlog: number;
  readonly disk_free: number;
  readonly disk_total: number;
}

/** How two samples become one: of two servers in one minute, and of the minutes of an interval. */
interface Merging {
  readonly servers: 'sum' | 'max' | 'min';
  readonly minutes: 'sum' | 'max' | 'min';
}

const total: Merging = { servers: 'sum', minutes: 'sum' };

/** Every server knows all people who are online and the whole backlog, but only its own requests and streams. */
const columns: Readonly<Record<Exclude<keyof SampleRow, 'minute'>, Merging>> = {
  messages: total,
  requests: total,
  server_errors: total,
  streams: { servers: 'sum', minutes: 'max' },
  people_online: { servers: 'max', minutes: 'max' },
  first_attempts: total,
  first_attempt_lag_ms: total,
  backlog: { servers: 'max', minutes: 'max' },
  disk_free: { servers: 'min', minutes: 'min' },
  disk_total: { servers: 'min', minutes: 'min' },
};

const names = Object.keys(columns) as (keyof typeof columns)[];

const merged = Object.entries(columns).map(([name, { servers }]) => {
  const [old, added] = [`metric_samples.${name}`, `excluded.${name}`];
  if (servers === 'sum') return `${name} = ${old} + ${added}`;
  return `${name} = CASE WHEN ${old} ${servers === 'max' ? '>' : '<'} ${added} THEN ${old} ELSE ${added} END`;
});

/** Adds the sample of one server to that of the minute. */
export async function addSample(tx: Tx, sample: SampleRow): Promise<void> {
  await tx.run(
    `INSERT INTO metric_samples (minute, ${names.join(', ')})
     VALUES ($1, ${names.map((_, i) => `$${i + 2}`).join(', ')})
     ON CONFLICT (minute) DO UPDATE SET ${merged.join(', ')}`,
    [sample.minute, ...names.map((name) => sample[name])],
  );
}

const overMinutes = Object.entries(columns).map(
  ([name, { minutes }]) => `CAST(${minutes}(${name}) AS bigint) AS ${name}`,
);

/**
 * Returns samples of intervals of `minutes` each, from the minute `since` on, in order. `minute` is the first one of the
 * interval. Intervals in which no server ran are left out.
 */
export const listSamples = (db: Db, since: number, minutes: number): Promise<SampleRow[]> =>
  db.all(
    `SELECT part * CAST($2 AS bigint) + CAST($1 AS bigint) AS minute, ${overMinutes.join(', ')}
     FROM (
       SELECT s.*, (s.minute - CAST($1 AS bigint)) / CAST($2 AS bigint) AS part
       FROM metric_samples s WHERE s.minute >= CAST($1 AS bigint)
     ) AS parted GROUP BY part ORDER BY part`,
    [since, minutes],
  );

/** Deletes the samples before a minute. */
export async function pruneSamples(tx: Tx, before: number): Promise<void> {
  await tx.run('DELETE FROM metric_samples WHERE minute < $1', [before]);
}

/** Returns how many deliveries are open, up to `max`. */
export const countOpenDeliveries = (db: Db, max: number): Promise<number> =>
  number(
    db,
    `SELECT count(*) AS open FROM (
       SELECT 1 AS one FROM deliveries WHERE state IN ('pending', 'retrying') LIMIT $1
     ) AS found`,
    [max],
  );
