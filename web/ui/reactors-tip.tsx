/** @jsxImportSource preact */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { MessageRecord, UserRecord } from '../store/records.ts';
import { text } from '../text/text.ts';
import { useSession } from './context.ts';
import { placeBeside } from './popover.tsx';

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
  const [users, setUsers] = useState<readonly UserRecord[] | undefined>(undefined);
  const { message_id, reactions } = message;
  const { count = 0, reacted = false } = reactions.find((reaction) => reaction.emoji === emoji) ?? {};
  useEffect(() => {
    let isCurrent = true;
    client.messages
      .reactions({ message_id, emoji, limit: maxNames })
      .then(({ users: found }) => isCurrent && setUsers(found), report);
    return () => {
      isCurrent = false;
    };
  }, [client, message_id, emoji, count, report]);
  useLayoutEffect(() => {
    if (!ref.current) return;
    // The list cuts off what is outside of it, except for popovers.
    if (!ref.current.matches(':popover-open')) ref.current.showPopover();
    placeBeside(ref.current, anchor);
  });
  if (!users || count === 0) return null;
  const others = users.filter(({ user_id }) => user_id !== store.me.user_id).map(({ display_name }) => display_name);
  const names = [...(reacted ? [text.reactions.you] : []), ...others].slice(0, Math.min(maxNames, count));
  return (
    <div ref={ref} id={id} class="tip" popover="manual" role="tooltip" aria-live="polite">
      {text.reactions
        .by({ names, others: count - names.length })
        .map((part) => (typeof part === 'string' ? part : <bdi>{part.name}</bdi>))}
    </div>
  );
}
