import type { ChatId, UserId } from '@parley/contract';

export interface SearchQuery {
  readonly userId: UserId;
  /** Folded words; the last is a prefix. */
  readonly words: readonly string[];
  /** Where to look; only in those that the user is in. */
  readonly chatIds: readonly ChatId[];
  readonly before: number;
  readonly limit: number;
}

/** A word as it stands in the index. Chats are numbers, so the first letter ends the chat's part. */
export const wordOf = (chat: ChatId | string, word: string): string => `${chat}x${word}`;
