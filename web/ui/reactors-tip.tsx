/** @jsxImportSource preact */
import type { Client } from '@parley-chat/sdk';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Reactors } from '../store/reactors.ts';
import type { MessageRecord } from '../store/records.ts';
import { text } from '../text/text.ts';
import { useSession } from './context.ts';
import { placeBeside } from './popover.tsx';

const known = new WeakMap<Client, Reactors>();

/** Returns what is known so far, which is kept as long as the session. */
function reactorsOf(client: Client): Reactors {
  const reactors = known.get(client) ?? new Reactors(client);
  known.set(client, reactors);
  return reactors;
}

const maxNames = 12;

interface TipProps {
  readonly id: string;
  readonly message: MessageRecord;
  readonly emoji: string;
  readonly anchor: Element;
}

/** Says who reacted to a message with an emoji. */
export function ReactorsTip({ id, message, emoji, anchor }: TipProps) {
  const { client, store, report } = useSession();
  const ref = useRef<HTMLDivElement>(null);
  const [users, setUsers] = useState<readonly number[] | undefined>(undefined);
  const { chat_id, message_id, reactions } = message;
  const count = reactions.find((reaction) => reaction.emoji === emoji)?.count ?? 0;
  useEffect(() => {
    let isCurrent = true;
    reactorsOf(client)
      .of(chat_id, message_id, emoji)
      .then((ids) => isCurrent && setUsers(ids), report);
    return () => {
      isCurrent = false;
    };
  }, [client, chat_id, message_id, emoji, count, report]);
  useLayoutEffect(() => {
    if (!ref.current) return;
    // The list cuts off what is outside of it, except for popovers.
    if (!ref.current.matches(':popover-open')) ref.current.showPopover();
    placeBeside(ref.current, anchor);
  });
  if (!users || count === 0) return null;
  const isMe = (userId: number) => userId === store.me.user_id;
  const names = [...users]
    .sort((a, b) => Number(isMe(b)) - Number(isMe(a)))
    .slice(0, Math.min(maxNames, count))
    .map((userId) => (isMe(userId) ? text.reactions.you : (store.user(userId)?.display_name ?? '…')));
  return (
    <div ref={ref} id={id} class="tip" popover="manual" role="tooltip" aria-live="polite">
      {text.reactions
        .by({ names, others: count - names.length })
        .map((part) => (typeof part === 'string' ? part : <bdi>{part.name}</bdi>))}
    </div>
  );
}
