import type { Dialect } from './engine.ts';

/** No id is larger. */
export const largestId = String(Number.MAX_SAFE_INTEGER);

/**
 * The newest message of a chat, as a subquery. It is not asked for with max(): PostgreSQL would go through the table from its end
 * until it comes upon the chat, which may have been quiet for a million messages of others.
 */
export const newestIn = ({ backwards }: Pick<Dialect, 'backwards'>, chat: string, upTo = largestId): string =>
  `(SELECT t.message_id FROM messages t WHERE ${backwards(['t.chat_id', 't.message_id'], chat, upTo)}
    ORDER BY t.chat_id DESC, t.message_id DESC LIMIT 1)`;
