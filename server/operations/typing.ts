import { LRUCache } from 'lru-cache';
import { maxLiveParticipants } from '../domain/live-state.ts';
import { accessChatTo } from './access.ts';
import type { Handler, Services } from './operation.ts';

/** A signal of the same user and chat within this time is dropped. */
const pauseMs = 3_000;

/** Users and chats with a recent signal. One that is forgotten may signal once more. */
const maxRecent = 10_000;

/** Tells the participants of a chat that the caller is typing. Nothing is stored. */
export function typing({ engine, now, signal }: Services): Handler<'chats.typing'> {
  const lastAt = new LRUCache<string, number>({ max: maxRecent });
  return async ({ caller: { userId }, input: { chat_id } }) => {
    const { chat } = await accessChatTo(engine, 'send', userId, chat_id);
    const key = `${chat_id} ${userId}`;
    const at = now();
    // The clock may have been set back.
    const isRecent = Math.abs(at - (lastAt.get(key) ?? Number.NEGATIVE_INFINITY)) < pauseMs;
    if (!isRecent && chat.participant_count <= maxLiveParticipants) {
      lastAt.set(key, at);
      signal({ event: 'typing', data: { chat_id, user_id: userId } });
    }
    return { chat_id };
  };
}
