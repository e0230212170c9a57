import type { ChatId, MessageId } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';
import { value } from '../engine/query.ts';

/** Returns the pinned messages of a chat, the newest pin first. */
export async function pinsOf(db: Db, chatId: ChatId): Promise<MessageId[]> {
  const pins = await value<string>(db, 'SELECT pins FROM chats WHERE chat_id = $1', [chatId]);
  return pins === undefined ? [] : (JSON.parse(pins) as MessageId[]);
}

/** The chat must be locked, because its pins were read before. */
export async function setPins(tx: Tx, chatId: ChatId, pins: readonly MessageId[]): Promise<void> {
  await tx.run('UPDATE chats SET pins = $2 WHERE chat_id = $1', [chatId, JSON.stringify(pins)]);
}

/** Returns whether the message was pinned. The chat must be locked. */
export async function removePin(tx: Tx, chatId: ChatId, messageId: MessageId): Promise<boolean> {
  const pins = await pinsOf(tx, chatId);
  if (!pins.includes(messageId)) return false;
  await setPins(
    tx,
    chatId,
    pins.filter((id) => id !== messageId),
  );
  return true;
}
