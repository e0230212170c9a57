import type { Dialect } from '../engine/engine.ts';

/** The upper limit of all ids. */
export const largestId = String(Number.MAX_SAFE_INTEGER);

/**
 * A subquery for the newest message of a chat. With max() PostgreSQL would scan the table from its end until it finds the
 * chat, whose last message may be a million messages back.
 */
export const newestIn = ({ backwards }: Pick<Dialect, 'backwards'>, chat: string, upTo = largestId): string =>
  `(SELECT t.message_id FROM messages t WHERE ${backwards(['t.chat_id', 't.message_id'], chat, upTo)}
    ORDER BY t.chat_id DESC, t.message_id DESC LIMIT 1)`;
