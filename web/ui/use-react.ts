import type { MessageRecord } from '../store/records.ts';
import { text } from '../text/text.ts';
import { useSession } from './context.ts';
import { useAct } from './notice.tsx';

/** Adds a reaction of the user, or takes it back. */
export function useReact(): (message: MessageRecord, emoji: string) => void {
  const { client, store } = useSession();
  const act = useAct();
  return ({ message_id, reactions }, emoji) => {
    const isMine = reactions.some((reaction) => reaction.emoji === emoji && reaction.reacted);
    const call = isMine ? client.messages.removeReaction : client.messages.addReaction;
    act(text.reactions.failed, async () => store.putMessage((await call({ message_id, emoji })).message));
  };
}
