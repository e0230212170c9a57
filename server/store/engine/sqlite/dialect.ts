import type { Dialect } from '../engine.ts';

export const sqliteDialect: Dialect = {
  name: 'sqlite',
  now: `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
  lastEventId: `(SELECT last_id FROM id_counters WHERE name = 'events')`,
  lastMessageId: `(SELECT last_id FROM id_counters WHERE name = 'messages')`,
  databaseBytes: '(SELECT c.page_count * s.page_size FROM pragma_page_count() c, pragma_page_size() s)',
  lockRows: '',
  onwards: ([first, second], value, after) => `${first} = ${value} AND ${second} > ${after}`,
  backwards: ([first, second], value, upTo) => `${first} = ${value} AND ${second} <= ${upTo}`,
  isOne: (column, value) => `${column} = ${value}`,
  indexedBy: (index) => `INDEXED BY ${index}`,
  rows: (param, columns, alias) => {
    const list = Object.keys(columns).map((c) => `json_extract(value, '$.${c}') AS ${c}`);
    return `(SELECT ${list.join(', ')} FROM json_each(${param})) AS ${alias}`;
  },
  firstIdsPerRow: (outer, inner, limit, alias, key) => {
    const [table, id] = key.split('.');
    return `${outer} JOIN (SELECT ${id} AS id FROM ${table}) AS ${alias} ON ${alias}.id IN (${inner} LIMIT ${limit})`;
  },
};
