import type { Thread } from '@parley-chat/sdk/operations.ts';

/** Threads, the one with the newest reply first. */
export interface ThreadList {
  readonly threads: readonly Thread[];
  /** Whether the server has older ones. */
  readonly hasMore: boolean;
}

export interface ThreadPage {
  readonly threads: readonly Thread[];
  readonly has_more: boolean;
}

/**
 * Puts a page of threads into a list. The page has every thread whose newest reply is between its last row and `before`, so a
 * known one in that range that is not in the page is gone. A reply moves a thread up, so of two records the newer counts.
 */
export function joinPage(
  known: ThreadList | undefined,
  page: ThreadPage,
  before = Number.POSITIVE_INFINITY,
): ThreadList {
  const end = page.has_more ? (page.threads.at(-1)?.last_reply_id ?? 0) : 0;
  const rest = known?.threads.filter(({ last_reply_id: id }) => id >= before || id < end) ?? [];
  const byId = new Map<number, Thread>();
  for (const thread of [...page.threads, ...rest]) {
    const other = byId.get(thread.message.message_id);
    if (!other || thread.last_reply_id > other.last_reply_id) byId.set(thread.message.message_id, thread);
  }
  const threads = [...byId.values()].sort((a, b) => b.last_reply_id - a.last_reply_id);
  const isBelow = rest.some(({ last_reply_id }) => last_reply_id < end);
  return { threads, hasMore: page.has_more && (isBelow && known ? known.hasMore : true) };
}
