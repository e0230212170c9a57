import { type ChatId, type FileId, type MessageId, ParleyError, type Role, type UserId } from '@parley/contract';
import { type Act, may, refusals } from '../domain/policy.ts';
import { type ChatAccess, findChat } from '../store/chat/chats.ts';
import { findMessage, type MessageRow } from '../store/chat/messages.ts';
import type { Db, Tx } from '../store/engine/engine.ts';
import { type CompleteFile, findFile, isComplete, isSharedWith } from '../store/files/files.ts';

/** A chat and the role of the caller in it. */
export interface Membership {
  readonly chat: ChatAccess;
  readonly role: Role;
}

export const noChat = () => new ParleyError('not_found', 'There is no such chat, or you may not see it.');
const noMessage = () => new ParleyError('not_found', 'There is no such message, or you may not see it.');

/** The one door from an id to a chat: absent and hidden give the same answer. */
export async function accessChat(db: Db, userId: UserId, chatId: ChatId, since?: number): Promise<ChatAccess> {
  const chat = await findChat(db, chatId, userId, since);
  if (!chat || (chat.role === null && chat.visibility !== 'public')) throw noChat();
  return chat;
}

/** The same for somebody who wants to do something there, which takes a participant whose role allows it. */
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

/** The same for a change, which nobody else makes in this chat until the transaction ends. */
export async function lockChatTo(tx: Tx, act: Act, userId: UserId, chatId: ChatId): Promise<Membership> {
  await tx.lockChat(chatId);
  return accessChatTo(tx, act, userId, chatId);
}

/** The one door from an id to a message: only participants of its chat see it. */
export async function accessMessage(
  db: Db,
  userId: UserId,
  messageId: MessageId,
): Promise<Membership & { message: MessageRow }> {
  const message = await findMessage(db, messageId);
  const chat = message && (await findChat(db, message.chat_id, userId));
  if (!chat || chat.role === null) throw noMessage();
  return { message, chat, role: chat.role };
}

/** The same for a change. A message never moves to another chat, so what was read before the lock names the chat. */
export async function lockMessage(
  tx: Tx,
  userId: UserId,
  messageId: MessageId,
): Promise<Membership & { message: MessageRow }> {
  const unlocked = await accessMessage(tx, userId, messageId);
  await tx.lockChat(unlocked.chat.chat_id);
  return accessMessage(tx, userId, messageId);
}

/** The one door from an id to a file: whoever uploaded it sees it, and whoever is in a chat where a message names it. */
export async function accessFile(db: Db, userId: UserId, fileId: FileId, now: number): Promise<CompleteFile> {
  const file = await findFile(db, fileId, now);
  const isSeen = file && isComplete(file) && (file.user_id === userId || (await isSharedWith(db, fileId, userId)));
  if (!isSeen) throw new ParleyError('not_found', 'There is no such file, or you may not see it.');
  return file;
}
