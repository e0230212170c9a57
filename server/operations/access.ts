import { type ChatId, type FileId, type MessageId, ParleyError, type Role, type UserId } from '@parley/contract';
import type { Caller } from '../auth/caller.ts';
import { type Act, may, refusals } from '../domain/policy.ts';
import { findToken } from '../store/access/tokens.ts';
import { type ChatAccess, findChat } from '../store/chat/chats.ts';
import { findMessage, type MessageRow } from '../store/chat/messages.ts';
import type { Db, Tx } from '../store/engine/engine.ts';
import { type CompleteFile, findFile, isComplete, isSharedWith } from '../store/files/files.ts';

/** A chat and the role of the caller in it. */
export interface Membership {
  readonly chat: ChatAccess;
  readonly role: Role;
}

type MessageAccess = Membership & { readonly message: MessageRow };

export const noChat = () => new ParleyError('not_found', 'There is no such chat, or you may not see it.');

export const noMessage = () => new ParleyError('not_found', 'There is no such message, or you may not see it.');

/** Returns a chat that the user may see. Throws `not_found` for any other. */
export async function accessChat(db: Db, userId: UserId, chatId: ChatId, since?: number): Promise<ChatAccess> {
  const chat = await findChat(db, chatId, userId, since);
  if (!chat || (chat.role === null && chat.visibility !== 'public')) throw noChat();
  return chat;
}

/** Returns a chat in which the user's role allows the act. Throws `not_found` or `forbidden` otherwise. */
export async function accessChatTo(
  db: Db,
  act: Act,
  userId: UserId,
  chatId: ChatId,
  since?: number,
): Promise<Membership> {
  const chat = await accessChat(db, userId, chatId, since);
  const { role } = chat;
  if (role === null) throw new ParleyError('forbidden', refusals.read);
  if (!may(act, chat.type, role)) throw new ParleyError('forbidden', refusals[act]);
  return { chat, role };
}

/** Returns the same, and locks the chat until the end of the transaction. */
export async function lockChatTo(tx: Tx, act: Act, userId: UserId, chatId: ChatId): Promise<Membership> {
  await tx.lockChat(chatId);
  return accessChatTo(tx, act, userId, chatId);
}

/** Returns a message of a chat that the user is in. Throws `not_found` for any other. */
export async function accessMessage(db: Db, userId: UserId, messageId: MessageId): Promise<MessageAccess> {
  const message = await findMessage(db, messageId);
  const chat = message && (await findChat(db, message.chat_id, userId));
  if (!chat || chat.role === null) {
    throw noMessage();
  }
  return { message, chat, role: chat.role };
}

/** Returns the same, and locks the chat. A message never moves, so the chat to lock is known before. */
export async function lockMessage(tx: Tx, userId: UserId, messageId: MessageId): Promise<MessageAccess> {
  const unlocked = await accessMessage(tx, userId, messageId);
  await tx.lockChat(unlocked.chat.chat_id);
  return accessMessage(tx, userId, messageId);
}

/** Returns a file that the user uploaded, or that a message in one of their chats has. Throws `not_found` for any other. */
export async function accessFile(db: Db, userId: UserId, fileId: FileId, now: number): Promise<CompleteFile> {
  const file = await findFile(db, fileId, now);
  const isSeen = file && isComplete(file) && (file.user_id === userId || (await isSharedWith(db, fileId, userId)));
  if (!isSeen) throw new ParleyError('not_found', 'There is no such file, or you may not see it.');
  return file;
}

/** Throws if the token of the call was revoked in the meantime. Guards what would outlive the token. */
export async function requireValidToken(tx: Tx, { userId, tokenId }: Caller): Promise<void> {
  if (await findToken(tx, userId, tokenId)) return;
  throw new ParleyError('unauthorized', 'This access token has just been revoked.');
}
