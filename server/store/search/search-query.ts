import type { ChatId, UserId } from '@parley/contract';

export interface WordQuery {
  readonly userId: UserId;
  /** Folded words. The last one is a prefix. */
  readonly words: readonly string[];
  readonly before: number;
  readonly limit: number;
}

export interface SearchQuery extends WordQuery {
  /** The chats to search. Those that the user is not in give no results. */
  readonly chatIds: readonly ChatId[];
}

/** Stands for the chat of a word that is indexed without its chat. */
export const anyChat = '';

/** A word as the index holds it. A chat is a number, so the `x` ends its part. */
export const wordOf = (chat: ChatId | string, word: string): string => `${chat}x${word}`;
