/** @jsxImportSource preact */
import { useCallback, useState } from 'preact/hooks';
import type { ChatHead, MessageRecord } from '../store/records.ts';
import { text } from '../text/text.ts';
import { mayPin, useSession } from './context.ts';
import { IconButton } from './icon.tsx';
import { quoteOf } from './markdown.ts';
import { Popover } from './popover.tsx';
import { Problem, useAttempts, useLoading } from './problem.tsx';
import { chatPath } from './route.ts';
import { fullTime, shortTime } from './time.ts';
import { useSetPinned } from './use-set-pinned.ts';

interface PinListProps {
  readonly chat: ChatHead;
  readonly anchor: HTMLElement;
  readonly onClose: () => void;
}

/** The pinned messages of a chat. */
export function PinList({ chat, anchor, onClose }: PinListProps) {
  const { client, store } = useSession();
  const [messages, setMessages] = useState<readonly MessageRecord[]>([]);
  const { chat_id, pins } = chat;
  const key = pins.join(' ');
  const load = useCallback(
    async () => setMessages((await client.messages.pins({ chat_id })).messages),
    [key, chat_id, client],
  );
  const loading = useLoading(text.pins.failed, load);
  const unpinning = useAttempts(text.pins.unpinFailed);
  const setPinned = useSetPinned();
  const unpin = (message: MessageRecord) => unpinning.run(() => setPinned(message, false));
  return (
    <Popover label={text.pins.title} anchor={anchor} onClose={onClose}>
      <Problem words={loading.problem} onRetry={loading.again} />
      <Problem words={unpinning.problem} onRetry={unpinning.again} />
      <ul class="pins" aria-label={text.pins.title}>
        {messages
          .filter(({ message_id }) => pins.includes(message_id))
          .map((message) => (
            <li key={message.message_id}>
              <a href={chatPath(chat_id, message.message_id)} onClick={onClose}>
                <span class="where">
                  <bdi>{store.user(message.user_id)?.display_name ?? '…'}</bdi>
                  <time dateTime={message.created_at} title={fullTime(message.created_at)}>
                    {shortTime(message.created_at)}
                  </time>
                </span>
                <span class="text" dir="auto">
                  {quoteOf(message)}
                </span>
              </a>
              {mayPin(chat) && <IconButton icon="unpin" label={text.pins.unpin} onClick={() => unpin(message)} />}
            </li>
          ))}
      </ul>
    </Popover>
  );
}
