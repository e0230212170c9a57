import type { ChatId, UserId } from '@parley/contract';

export interface SearchQuery {
  readonly userId: UserId;
  /** Folded words. The last one is a prefix. */
  readonly words: readonly string[];
  /** The chats to search. Those that the user is not in give no results. */
  readonly chatIds: readonly ChatId[];
  readonly before: number;
  readonly limit: number;
}

/** A word as the index holds it. A chat is a number, so the `x` ends its part. */
export const wordOf = (chat: ChatId | string, word: string): string => `${chat}x${word}`;
