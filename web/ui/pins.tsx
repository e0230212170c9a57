/** @jsxImportSource preact */
import { useCallback, useRef, useState } from 'preact/hooks';
import type { ChatHead, MessageRecord } from '../store/records.ts';
import { text } from '../text/text.ts';
import { mayPin, useSession } from './context.ts';
import { Icon, IconButton } from './icon.tsx';
import { quoteOf } from './markdown.ts';
import { Popover } from './popover.tsx';
import { Problem, useAttempts, useLoading } from './problem.tsx';
import { chatPath } from './route.ts';
import { fullTime, shortTime } from './time.ts';
import './pins.css';

/** Returns a function that pins a message or unpins it. */
export function useSetPinned(): (message: MessageRecord, isPinned: boolean) => Promise<void> {
  const { client, store } = useSession();
  return async ({ chat_id, message_id }, isPinned) => {
    const { chat } = await (isPinned ? client.messages.pin : client.messages.unpin)({ message_id });
    store.changeChat(chat_id, () => ({ pins: chat.pins }));
  };
}

/** The button with the number of pinned messages. It shows them. */
export function Pins({ chat }: { chat: ChatHead }) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const count = chat.pins.length;
  if (count === 0) return null;
  const close = () => setOpen(false);
  return (
    <>
      <button
        type="button"
        ref={button}
        class="icon-button pins-button"
        aria-label={text.pins.count(count)}
        title={text.pins.title}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="pin" />
        <span aria-hidden="true">{count}</span>
      </button>
      {isOpen && button.current && (
        <Popover label={text.pins.title} anchor={button.current} onClose={close}>
          <PinList chat={chat} onClose={close} />
        </Popover>
      )}
    </>
  );
}

function PinList({ chat, onClose }: { chat: ChatHead; onClose: () => void }) {
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
    <>
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
    </>
  );
}
