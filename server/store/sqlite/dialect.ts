import type { Dialect } from '../engine.ts';

export const sqliteDialect: Dialect = {
  name: 'sqlite',
  now: `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
  lastEventId: `(SELECT last_id FROM id_counters WHERE name = 'events')`,
  lockRows: '',
  inChat: (t, id, chat, after, upTo) => `${t}.chat_id = ${chat} AND ${t}.${id} > ${after} AND ${t}.${id} <= ${upTo}`,
  rows: (param, columns, alias) => {
    const list = Object.keys(columns).map((c) => `json_extract(value, '$.${c}') AS ${c}`);
    return `(SELECT ${list.join(', ')} FROM json_each(${param})) AS ${alias}`;
  },
  firstIdsPerRow: (outer, inner, limit, alias) =>
    `${outer} JOIN (SELECT event_id AS id FROM events) AS ${alias} ON ${alias}.id IN (${inner} LIMIT ${limit})`,
};
