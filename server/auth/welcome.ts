import type { UserId } from '@parley/contract';
import { readService } from '../store/access/service.ts';
import { startMemberships } from '../store/chat/joining.ts';
import type { Tx } from '../store/engine/engine.ts';

/** A new person joins the chat that administrators chose for it, if there is one. */
export async function joinWelcomeChat(tx: Tx, userId: UserId, at: number): Promise<void> {
  const { welcome_chat_id: chatId } = await readService(tx);
  if (chatId === null) return;
  await tx.lockChat(chatId);
  await startMemberships(tx, chatId, [userId], userId, at);
}
