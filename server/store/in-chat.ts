import type { Dialect } from './engine.ts';

/** Tables that have an index by chat and id. */
const idOf = { messages: 'message_id', events: 'event_id' } as const;

/** No id is larger. */
export const largestId = String(Number.MAX_SAFE_INTEGER);

/**
 * The newest id of a chat in a table, as a subquery. It is not asked for with max(): PostgreSQL would go through the table
 * from its end until it comes upon the chat, which may have been quiet for a million messages of others.
 */
export const newestIn = (
  dialect: Pick<Dialect, 'backwards'>,
  table: keyof typeof idOf,
  chat: string,
  upTo = largestId,
): string => {
  const id = idOf[table];
  return `(SELECT t.${id} FROM ${table} t WHERE ${dialect.backwards(['t.chat_id', `t.${id}`], chat, upTo)} ORDER BY t.chat_id DESC, t.${id} DESC LIMIT 1)`;
};
