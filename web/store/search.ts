import type { Client } from '@parley-chat/sdk';
import { filesOf, type MessageRecord } from './records.ts';

/** What a search looks for. The server knows the words and the chat; the client filters by the rest. */
export interface SearchFilters {
  readonly query: string;
  readonly chatId?: number | undefined;
  readonly userId?: number | undefined;
  readonly hasFile?: boolean | undefined;
  /** Milliseconds since 1970. */
  readonly before?: number | undefined;
}

export interface Hits {
  readonly messages: readonly MessageRecord[];
  /** Continues the search, if there may be more. */
  readonly next: number | undefined;
}

const pageSize = 30;
/** A filter of the client needs more hits than it shows. */
const filteredPageSize = 200;
const maxPages = 5;

/** Returns the next hits, newest first: at least one page of them, unless five requests found fewer. */
export async function search(client: Client, filters: SearchFilters, from?: number): Promise<Hits> {
  const { query, chatId, userId, hasFile, before } = filters;
  const isFiltered = userId !== undefined || hasFile === true;
  const limit = isFiltered ? filteredPageSize : pageSize;
  const load = (beforeId: number | undefined, count: number) =>
    client.messages.search({
      query,
      limit: count,
      ...(chatId !== undefined && { chat_id: chatId }),
      ...(beforeId !== undefined && { before_id: beforeId }),
    });
  const matches = (message: MessageRecord) =>
    (userId === undefined || message.user_id === userId) && (!hasFile || filesOf(message).length > 0);

  const newestBelow = async (beforeId: number | undefined) => (await load(beforeId, 1)).messages[0];
  let cursor = from;
  if (cursor === undefined && before !== undefined) cursor = (await firstSince(before, newestBelow))?.message_id;
  const found: MessageRecord[] = [];
  for (let pages = 0; pages < maxPages; pages++) {
    const { messages, has_more } = await load(cursor, limit);
    found.push(...messages.filter(matches));
    cursor = messages.at(-1)?.message_id;
    if (!has_more || cursor === undefined) return { messages: found, next: undefined };
    if (found.length >= pageSize) break;
  }
  return { messages: found, next: cursor };
}

/**
 * Returns the oldest message that is not older than a time, or undefined if all are older. `newestBelow` returns the newest
 * message below an id, or of all. It is called about as often as the ids have binary digits.
 */
export async function firstSince(
  time: number,
  newestBelow: (id: number | undefined) => Promise<MessageRecord | undefined>,
): Promise<MessageRecord | undefined> {
  let since = await newestBelow(undefined);
  if (!since || Date.parse(since.created_at) < time) return undefined;
  // Everything below `low` is older. Message `since` is not.
  let low = 1;
  while (low < since.message_id) {
    const middle = low + Math.ceil((since.message_id - low) / 2);
    const message: MessageRecord | undefined = await newestBelow(middle);
    if (message && Date.parse(message.created_at) >= time) since = message;
    else low = middle;
  }
  return since;
}
