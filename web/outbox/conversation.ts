/** A chat, or a thread in it. Each has a draft and attached files of its own. */
export interface Conversation {
  readonly chatId: number;
  readonly threadId?: number | undefined;
}

/** The key of a conversation in the database. */
export type ConversationKey = `chat ${number}` | `thread ${number}`;

export const conversationKey = ({ chatId, threadId }: Conversation): ConversationKey =>
  threadId === undefined ? `chat ${chatId}` : `thread ${threadId}`;
