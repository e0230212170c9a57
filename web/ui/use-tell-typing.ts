import { useRef } from 'preact/hooks';
import type { ChatHead } from '../store/records.ts';
import { useSession } from './context.ts';

/** The server passes it on no more often. */
const everyMs = 3_000;

/** A key is on the screen by then. */
const afterKeyMs = 50;

/** Larger chats have no such signal. */
const maxParticipants = 100;

/** Returns a function that tells the others that the user is typing. */
export function useTellTyping({ chat_id, participant_count }: ChatHead): () => void {
  const { client, store } = useSession();
  const toldAt = useRef(0);
  return () => {
    const now = Date.now();
    if (participant_count > maxParticipants || now - toldAt.current < everyMs) return;
    if (store.connection.peek() !== 'live') return;
    toldAt.current = now;
    // The key is shown first. A signal that is lost needs no retry: a later key sends another one.
    setTimeout(() => client.chats.typing({ chat_id }).catch(() => {}), afterKeyMs);
  };
}
